// SPDX-License-Identifier: MIT
// Operators of tensors against the same expression written by hand, on every device, in pairs of
// runs. Prints the medians, and the median ratio of the pairs.
#include <chrono>
#include <string>

#include "bench/report.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"

namespace kaiseki::bench {
namespace {

constexpr int kPairs = 15;

template <class Run>
double milliseconds(Device device, const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  const Tensor result = run();
  device.synchronize();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

template <class Ours, class Theirs>
void compare(const char* text, const char* peer, Device device, int64_t n, const Ours& ours,
             const Theirs& theirs) {
  milliseconds(device, ours);  // compiles the kernels
  milliseconds(device, theirs);
  Pairs pairs;
  for (int i = 0; i < kPairs; ++i) {
    const double our_time = milliseconds(device, ours);
    pairs.add_times(our_time, milliseconds(device, theirs));
  }
  const std::string name = std::string(text) + ' ' + std::to_string(n) + ' ' + device.name();
  pairs.print("operators", name, peer, "ms");
}

void run(Device device, int64_t n) {
  const Tensor x = Tensor::full({n}, 0.5f, device), y = Tensor::full({n}, 0.25f, device);
  const float a = 2;
  auto by_hand = [&] { return elementwise("a * x + y", {{"a", a}, {"x", x}, {"y", y}}); };
  auto operators = [&]() -> Tensor { return add(multiply(a, x), y); };
  compare("a*x+y", "elementwise", device, n, operators, by_hand);
  compare("a*x+y", "two passes", device, n, operators, [&]() -> Tensor {
    return elementwise("a * x", {{"a", a}, {"x", x}}) + y;
  });
}

}  // namespace
}  // namespace kaiseki::bench

int main() {
  for (const kaiseki::DeviceInfo& info : kaiseki::list_devices())
    for (int64_t n : {1000, 100000, 10000000}) kaiseki::bench::run(info.device, n);
}
