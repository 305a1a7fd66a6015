// SPDX-License-Identifier: MIT
// Measures the limit of small tasks. A file of its own, because WebAssembly has no such device.
#include <algorithm>
#include <chrono>
#include <vector>

#include "base/median.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/small_tasks.h"
#include "matrix/memory/buffer.h"

namespace kaiseki {
namespace {

/// A core reads or writes about this many elements of a simple operation in the cache.
constexpr double kElementsPerNanosecond = 4;
/// Larger tensors are worth a transfer on every device.
constexpr int64_t kMostElements = 1 << 20;

}  // namespace

int64_t measure_small_task_limit(const Backend& backend) {
  Tensor number({1}, DType::f32, backend.device());
  std::vector<double> times;            // nanoseconds
  for (int run = -1; run < 5; ++run) {  // the first run compiles the kernel
    const auto start = std::chrono::steady_clock::now();
    number.buffer().host(Access::write);
    number.buffer().on_device(Access::read);
    backend.run(kFill, {&number, 1});
    number.buffer().host(Access::read);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    if (run >= 0) times.push_back(time.count());
  }
  return std::min(kMostElements, static_cast<int64_t>(median(times) * kElementsPerNanosecond));
}

}  // namespace kaiseki
