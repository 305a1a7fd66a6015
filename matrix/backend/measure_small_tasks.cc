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
constexpr double kMostElements = 1 << 20;
/// Enough to measure the rate of transfers.
constexpr int64_t kTransferred = 1 << 16;

/// The nanoseconds of an upload, a kernel and a download.
double round_trip(const Backend& backend, int64_t elements) {
  Tensor numbers({elements}, DType::f32, backend.device());
  std::vector<double> times;
  for (int run = -1; run < 5; ++run) {  // the first run compiles the kernel
    const auto start = std::chrono::steady_clock::now();
    numbers.buffer().host(Access::write);
    numbers.buffer().on_device(Access::read);
    backend.run(kFill, {&numbers, 1});
    numbers.buffer().host(Access::read);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    if (run >= 0) times.push_back(time.count());
  }
  return median(times);
}

}  // namespace

int64_t measure_small_task_limit(const Backend& backend) {
  const double latency = round_trip(backend, 1);
  const double transfer = (round_trip(backend, kTransferred) - latency) / (2 * kTransferred);
  // The CPU takes longer from the size on where elements / kElementsPerNanosecond is more than
  // latency + elements * transfer.
  const double more = 1 / kElementsPerNanosecond - transfer;
  const double limit = more > 0 ? latency / more : kMostElements;
  return static_cast<int64_t>(std::min(kMostElements, limit));
}

}  // namespace kaiseki
