// SPDX-License-Identifier: MIT
// Operators of tensors against the same expression written by hand, on every device, in pairs of
// runs. Prints the medians, and the median ratio of the pairs.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

constexpr int kPairs = 15;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

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
  std::vector<double> our_times, their_times, ratios;
  for (int i = 0; i < kPairs; ++i) {
    our_times.push_back(milliseconds(device, ours));
    their_times.push_back(milliseconds(device, theirs));
    ratios.push_back(their_times.back() / our_times.back());
  }
  const std::string name = std::string(text) + ' ' + std::to_string(n) + ' ' + device.name();
  const char* format =
      isatty(STDOUT_FILENO)
          ? "operators  %-28s  %-12s  threads %d  ours %9.4f  theirs %9.4f  %s  ratio %.3f\n"
          : "{\"bench\": \"operators\", \"case\": \"%s\", \"peer\": \"%s\", \"threads\": %d, "
            "\"ours\": %.4f, \"theirs\": %.4f, \"unit\": \"%s\", \"ratio\": %.3f}\n";
  std::printf(format, name.c_str(), peer, thread_count(), median(our_times), median(their_times),
              "ms", median(ratios));
  std::fflush(stdout);
}

void run(Device device, int64_t n) {
  const Tensor x = Tensor::full({n}, 0.5f, device), y = Tensor::full({n}, 0.25f, device);
  const float a = 2;
  auto by_hand = [&] { return elementwise("a * x + y", {{"a", a}, {"x", x}, {"y", y}}); };
  auto operators = [&]() -> Tensor { return a * x + y; };
  compare("a*x+y", "elementwise", device, n, operators, by_hand);
  compare("a*x+y", "two passes", device, n, operators, [&] {
    return add(elementwise("a * x", {{"a", a}, {"x", x}}), y);
  });
}

}  // namespace
}  // namespace kaiseki::bench

int main() {
  for (const kaiseki::DeviceInfo& info : kaiseki::list_devices())
    for (int64_t n : {1000, 100000, 10000000}) kaiseki::bench::run(info.device, n);
}
