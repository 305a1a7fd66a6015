// SPDX-License-Identifier: MIT
#include "matrix/cost/rates.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/has_devices.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "matrix/tune/file.h"
#include "matrix/tune/policy.h"

namespace kaiseki {
namespace {

constexpr int kRounds = 4;      // the first one compiles kernels
constexpr int64_t kSide = 768;  // of the matrices
constexpr int64_t kElements = 4 << 20;
/// In place of unknown rates: about those of a small CPU and of its disk.
constexpr double kMultiplyAdds = 50e9, kBytes = 10e9, kLink = 1e9;

std::optional<DeviceRates>& given() {
  static std::optional<DeviceRates> rates;
  return rates;
}

double shortest(Device device, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    device.synchronize();
    const double begin = steady_seconds();
    work();
    device.synchronize();
    least = std::min(least, steady_seconds() - begin);
  }
  return least;
}

/// A tensor of ones on the device.
Tensor ones(const Shape& shape, Device device) {
  Tensor tensor(shape, DType::f32, device);
  device.backend().run(kFill, {&tensor, 1});
  return tensor;
}

double multiply_add_rate(Device device) {
  const Tensor a = ones({kSide, kSide}, device), b = ones({kSide, kSide}, device);
  Tensor c({kSide, kSide}, DType::f32, device);
  GemmArgs product{.m = kSide, .n = kSide, .k = kSide, .a = &a, .b = &b, .c = &c};
  product.lda = product.ldb = product.ldc = kSide;
  return kSide * kSide * kSide / shortest(device, [&] { device.backend().run(kGemm, product); });
}

double byte_rate(Device device) {
  const Tensor x = ones({kElements}, device);
  Tensor y(x.shape(), DType::f32, device);
  return 2.0 * kElements * sizeof(float) / shortest(device, [&] {
           device.backend().run(kCopy, {&x, &y});
         });
}

double to_host_rate(Device device) {
  Tensor x({kElements}, DType::f32, device);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    device.backend().run(kFill, {&x, static_cast<double>(i)});
    device.synchronize();
    const double begin = steady_seconds();
    x.buffer().leave_device();
    device.synchronize();
    least = std::min(least, steady_seconds() - begin);
  }
  return kElements * sizeof(float) / least;
}

double to_device_rate(Device device) {
  Tensor x = ones({kElements}, device);
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    x.buffer().leave_device();
    device.synchronize();
    const double begin = steady_seconds();
    x.buffer().on_device(Access::read);
    device.synchronize();
    least = std::min(least, steady_seconds() - begin);
  }
  return kElements * sizeof(float) / least;
}

/// The rates of one device, from the tuning file or measured.
class Rates {
 public:
  explicit Rates(Device device)
      : device_(device),
        key_(tuning_key(device.info(), "rates", "per second")),
        known_(recall_tuning(key_)) {}

  /// The file keeps the milliseconds for 10^9 units.
  double get(const char* name, double otherwise, double (*measure)(Device)) {
    for (const TuningResult& one : known_)
      if (one.candidate == name && one.milliseconds > 0) return 1e12 / one.milliseconds;
    if (!measures(tune_policy(), std::numeric_limits<double>::infinity(), 0)) return otherwise;
    try {
      const double rate = measure(device_);
      remember_tuning(key_, {{.candidate = name, .milliseconds = 1e12 / rate}});
      return rate;
    } catch (const OutOfMemory&) {
      return otherwise;
    }
  }

 private:
  Device device_;
  TuningKey key_;
  std::vector<TuningResult> known_;
};

}  // namespace

void set_device_rates(const std::optional<DeviceRates>& rates) { given() = rates; }

DeviceRates device_rates(Device device) {
  if (given()) return *given();
  Rates rates(device);
  DeviceRates result{.multiply_adds = rates.get("multiply-adds", kMultiplyAdds, multiply_add_rate),
                     .bytes = rates.get("bytes", kBytes, byte_rate)};
  const bool backing = kHasDevices && device.memory().backing() != nullptr;
  if (kHasDevices && (backing || !device.is_cpu()))
    result.link = {.to_host = rates.get("to host", kLink, to_host_rate),
                   .to_device = rates.get("to device", kLink, to_device_rate),
                   .overlaps = backing && !device.is_cpu()};
  return result;
}

}  // namespace kaiseki
