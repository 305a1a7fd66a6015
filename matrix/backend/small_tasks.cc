// SPDX-License-Identifier: MIT
#include "matrix/backend/small_tasks.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "matrix/backend/backend.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/memory/buffer.h"

namespace kaiseki {
namespace {

/// A core reads or writes about this many elements of a simple operation in the cache.
constexpr double kElementsPerNanosecond = 4;
/// Larger tensors are worth a transfer on every device.
constexpr int64_t kMostElements = 1 << 20;

std::atomic<bool> on_cpu = true, deterministic = false;

/// The median time of an upload, a kernel and a download of one number, in nanoseconds.
double nanoseconds_of_round_trip(const Backend& backend) {
  Tensor number({1}, DType::f32, backend.device());
  std::array<double, 5> times{};
  for (int run = -1; run < 5; ++run) {  // the first run compiles the kernel
    const auto start = std::chrono::steady_clock::now();
    number.buffer().host(Access::write);
    number.buffer().on_device(Access::read);
    backend.run(kFill, {&number, 1});
    number.buffer().host(Access::read);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    if (run >= 0) times[static_cast<size_t>(run)] = time.count();
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  return times[2];
}

bool is_on_device(const Tensor& t) { return t.buffer().valid_on_device(); }

}  // namespace

void set_small_tasks_on_cpu(bool value) { on_cpu = value; }
void set_small_tasks_deterministic(bool value) { deterministic = value; }

int64_t small_task_limit(Device device) {
  static std::mutex mutex;
  static auto* limits = new std::map<Device, int64_t>;
  const std::lock_guard lock(mutex);
  const auto [limit, unknown] = limits->try_emplace(device, 0);
  const Backend& backend = device.backend();
  if (unknown && !device.is_cpu() && backend.has(kFill))
    limit->second =
        std::min(kMostElements,
                 static_cast<int64_t>(nanoseconds_of_round_trip(backend) * kElementsPerNanosecond));
  return limit->second;
}

SmallTask is_small_task(const Tensor& result, std::span<const Tensor* const> inputs,
                        double elements) {
  if (result.device().is_cpu() || elements > kMostElements || !on_cpu || deterministic)
    return SmallTask::no;
  if (is_on_device(result) ||
      std::ranges::any_of(inputs, [](const Tensor* t) { return is_on_device(*t); }))
    return SmallTask::no;
  return SmallTask{elements <= static_cast<double>(small_task_limit(result.device()))};
}

}  // namespace kaiseki
