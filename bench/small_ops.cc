// SPDX-License-Identifier: MIT
// Small tasks on each device. Compares small tasks on the CPU (the default) with all tasks on the
// device. Also compares them with tensors of the CPU. Prints medians and the median ratio of pairs
// of runs.
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "bench/report.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/small_tasks.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"

namespace kaiseki::bench {
namespace {

constexpr int kPairs = 25;

/// A task as a program gives it to the library: numbers of the host in, numbers of the host out.
struct Task {
  std::string name;
  Shape a, b;
  bool product;

  double microseconds(Device device, bool small_on_cpu) const {
    const std::vector<float> x(static_cast<size_t>(a.elements()), 0.5f),
        y(static_cast<size_t>(b.elements()), 0.25f);
    set_small_tasks_on_cpu(small_on_cpu);
    const auto start = std::chrono::steady_clock::now();
    const Tensor left = Tensor::from(std::span(x), a, device);
    const Tensor right = Tensor::from(std::span(y), b, device);
    const std::vector<float> result =
        (product ? matmul(left, right) : Tensor(left + right)).to_vector();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    return time.count();
  }
};

template <class Theirs>
void compare(const Task& task, const char* peer, Device device, const Theirs& theirs) {
  task.microseconds(device, true);  // compiles the kernels
  theirs();
  Pairs pairs;
  for (int i = 0; i < kPairs; ++i) {
    const double ours = task.microseconds(device, true);
    pairs.add_times(ours, theirs());
  }
  pairs.print("small_ops", task.name + ' ' + device.name(), peer, "us");
}

void run(const Task& task, Device device) {
  compare(task, "on the device", device, [&] { return task.microseconds(device, false); });
  compare(task, "cpu tensors", device, [&] { return task.microseconds(Device::cpu(), true); });
}

}  // namespace
}  // namespace kaiseki::bench

int main() {
  using namespace kaiseki;
  std::vector<bench::Task> tasks;
  for (int64_t n : {1, 100, 1000, 10'000, 100'000, 1'000'000})
    tasks.push_back({"add " + std::to_string(n), {n}, {n}, false});
  tasks.push_back({"T1 1000x1000 + 1000x1000", {1000, 1000}, {1000, 1000}, false});
  tasks.push_back({"T2 1000x100 * 100x10", {1000, 100}, {100, 10}, true});
  for (const DeviceInfo& info : list_devices()) {
    if (info.device.is_cpu()) continue;
    std::printf("%s: a task is small up to %lld elements\n", info.device.name().c_str(),
                static_cast<long long>(info.device.backend().small_task_limit()));
    for (const bench::Task& task : tasks) bench::run(task, info.device);
  }
}
