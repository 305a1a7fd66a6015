// SPDX-License-Identifier: MIT
#include "matrix/cost/rates.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "matrix/memory/spill.h"
#include "matrix/tune/file.h"
#include "matrix/tune/policy.h"

namespace kaiseki {
namespace {

constexpr double kClose = 0.2;   // relative difference between a stored and a measured rate
constexpr int kRounds = 4;       // the first one compiles kernels
constexpr double kLoaded = 0.1;  // seconds that the device computes beside copies
constexpr double kLongest = 1;   // seconds that the device waits for a copy
constexpr int64_t kSide = 768;   // rows and columns of the matrices
constexpr int64_t kElements = 4 << 20, kLeastElements = 1 << 16;
constexpr int64_t kUncached = 32 << 20;  // elements that no cache of a processor holds
constexpr double kNoTime = 1e-4;         // seconds; shorter times cannot be measured
constexpr double kRound = 2e-3;          // seconds; a browser's clock moves in steps of up to 1 ms
constexpr int64_t kRows = 256, kRowElements = 1024;  // of a copy
/// The values of unknown rates. They are about those of a small CPU and its disk.
constexpr double kMultiplyAdds = 50e9, kBytes = 10e9, kLink = 1e9, kBeside = 5e9, kStarts = 1e5,
                 kCopies = 250e3;

std::optional<DeviceRates>& given() {
  static std::optional<DeviceRates> rates;
  return rates;
}

/// The shortest of several times of `work`. `prepare` runs before each and is not timed.
double shortest(
    Device device, const std::function<void()>& work,
    const std::function<void()>& prepare = [] {}) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRounds; ++i) {
    prepare();
    device.synchronize();
    const double begin = steady_seconds();
    work();
    device.synchronize();
    least = std::min(least, steady_seconds() - begin);
  }
  return least;
}

/// The elements of a large tensor. It takes at most a sixteenth of a budget. The allocator then
/// does not treat it as a large tensor of the program.
int64_t elements(Device device, int64_t most = kElements) {
  const uint64_t budget = device.memory().account().budget;
  if (budget == 0) return most;
  return std::clamp(static_cast<int64_t>(budget / 16 / sizeof(float)), kLeastElements, most);
}

/// A tensor of ones on the device. It uses no operation of ops/, because one could ask for rates.
Tensor ones(const Shape& shape, Device device) {
  Tensor tensor(shape, DType::f32, device);
  device.backend().run(kFill, {&tensor, 1});
  return tensor;
}

class Product {
 public:
  explicit Product(Device device)
      : a_(ones({kSide, kSide}, device)),
        b_(ones({kSide, kSide}, device)),
        c_(ones({kSide, kSide}, device)) {}
  void run() const {
    Tensor c = c_;
    GemmArgs args{.m = kSide, .n = kSide, .k = kSide, .a = &a_, .b = &b_, .c = &c};
    args.lda = args.ldb = args.ldc = kSide;
    c.device().backend().run(kGemm, args);
  }

 private:
  Tensor a_, b_, c_;
};

/// Reads and writes large tensors.
class ElementCopy {
 public:
  ElementCopy(Device device, int64_t most)
      : x_(ones({elements(device, most)}, device)), y_(ones(x_.shape(), device)) {}
  void run() const {
    Tensor y = y_;
    y.device().backend().run(kCopy, {&x_, &y});
  }
  double bytes() const { return 2.0 * static_cast<double>(x_.bytes()); }

 private:
  Tensor x_, y_;
};

/// Uses tensors that no cache of a processor holds, if there is room.
ElementCopy element_copy(Device device) {
  try {
    return {device, kUncached};
  } catch (const OutOfMemory&) {
    return {device, kElements};
  }
}

/// The number of kernels of one element that the device runs in a second.
double start_rate(Device device) {
  const Tensor x = ones({1}, device);
  Tensor y = ones({1}, device);
  for (int kernels = 64;; kernels *= 4) {
    const double seconds = shortest(device, [&] {
      for (int i = 0; i < kernels; ++i) device.backend().run(kCopy, {&x, &y});
    });
    if (seconds >= kRound) return kernels / seconds;
  }
}

double multiply_add_rate(Device device) {
  const Product product(device);
  return kSide * kSide * kSide / shortest(device, [&] { product.run(); });
}

double byte_rate(Device device) {
  const ElementCopy copy = element_copy(device);
  return copy.bytes() / shortest(device, [&] { copy.run(); });
}

/// The rate of the CPU's store, in bytes per second. A file's data can stay in the system's memory
/// for a while. The rates are those of the disk, so all rounds count. Throws OutOfMemory if the
/// store has no room.
class StoreRate {
 public:
  explicit StoreRate(Device device)
      : x_(ones({elements(device)}, device)), place_(make_place(x_.bytes())) {
    all_.row = x_.bytes();
    if (!place_) throw OutOfMemory("the store", {x_.bytes(), 0, 0, 0});
  }

  double writing() {
    return rate([&] { write(); });
  }
  double reading() {
    write();
    return rate([&] { read(); });
  }
  /// Copies in both directions until `stop`, and counts the bytes.
  void copy_until(const std::atomic<bool>& stop, std::atomic<uint64_t>& bytes) {
    while (!stop) {
      write();
      read();
      bytes += 2 * x_.bytes();
    }
  }

 private:
  void write() {
    place_->write(x_.buffer().on_device(Access::read), all_);
    place_->flush();
  }
  void read() { place_->read(x_.buffer().on_device(Access::write), all_); }
  double rate(const std::function<void()>& copy) const {
    double seconds = 0;
    for (int i = 0; i < kRounds; ++i) {
      const double begin = steady_seconds();
      copy();
      seconds += steady_seconds() - begin;
      place_->flush();  // the next read comes from the disk
    }
    return kRounds * static_cast<double>(x_.bytes()) / seconds;
  }

  Tensor x_;
  std::unique_ptr<SpillPlace> place_;
  CopyRegion all_;
};

double to_store_rate(Device device) { return StoreRate(device).writing(); }
double from_store_rate(Device device) { return StoreRate(device).reading(); }

/// Copies to and from the store on another thread until the end of its life.
class CopiesBeside {
 public:
  explicit CopiesBeside(Device device) : store_(device), thread_([this] { run(); }) {}
  ~CopiesBeside() {
    stop_ = true;
    thread_.join();
  }
  CopiesBeside(const CopiesBeside&) = delete;

  uint64_t bytes() const { return bytes_; }

 private:
  void run() noexcept {
    try {
      store_.copy_until(stop_, bytes_);
    } catch (const std::exception&) {  // no more bytes are counted
    }
  }

  StoreRate store_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> bytes_ = 0;
  std::thread thread_;
};

/// Returns the inverse of LinkRates::slows: copied bytes for each second that they cost. Another
/// thread copies while the CPU computes a product, and reads and writes large tensors, in turn.
double rate_beside(Device device) {
  const Product product(device);
  const ElementCopy elements = element_copy(device);
  const auto work = [&] {
    product.run();
    elements.run();
  };
  const double alone = shortest(device, work), start = steady_seconds();
  const CopiesBeside copies(device);
  while (copies.bytes() == 0 && steady_seconds() - start < kLongest) work();
  const uint64_t before = copies.bytes();
  const double begin = steady_seconds();
  double seconds = 0;
  int rounds = 0;
  while (seconds < kLoaded || (copies.bytes() == before && seconds < kLongest)) {
    work();
    ++rounds;
    seconds = steady_seconds() - begin;
  }
  const uint64_t bytes = copies.bytes() - before;
  if (bytes == 0) throw OutOfMemory("the store", {});  // it failed; the rate is unknown
  return static_cast<double>(bytes) / std::max(seconds - rounds * alone, kNoTime);
}

double to_host_rate(Device device) {
  Tensor x({elements(device)}, DType::f32, device);
  return static_cast<double>(x.bytes()) / shortest(
                                              device, [&] { x.buffer().leave_device(); },
                                              [&] {
                                                device.backend().run(kFill, {&x, 1});
                                              });
}

double to_device_rate(Device device) {
  Tensor x = ones({elements(device)}, device);
  return static_cast<double>(x.bytes()) / shortest(
                                              device, [&] { x.buffer().on_device(Access::read); },
                                              [&] { x.buffer().leave_device(); });
}

/// The number of rows that are copied to the device in a second, without the time of their bytes.
double copy_rate(Device device) {
  const Tensor whole = ones({2 * kRows, kRowElements}, device);
  const Tensor piece = ones({kRows, kRowElements}, device);
  whole.buffer().leave_device();
  if (!whole.buffer().left_device()) throw OutOfMemory("the store", {whole.bytes(), 0, 0, 0});
  const auto seconds = [&](const CopyRegion& region) {
    return shortest(device, [&] {
      whole.buffer().send_to(piece.buffer(), region);
      piece.buffer().on_device(Access::read);
    });
  };
  const uint64_t row = piece.bytes() / kRows;
  const CopyRegion apart{
      .row = row, .rows = kRows, .block = {.row_pitch = row}, .host = {.row_pitch = 2 * row}};
  return (kRows - 1) / std::max(seconds(apart) - seconds({.row = piece.bytes()}), kNoTime);
}

/// The rates of one device. Each process measures, but uses a rate of the tuning file if it is
/// close. A small difference would only change plans.
class Rates {
 public:
  explicit Rates(Device device)
      : device_(device),
        key_(tuning_key(device.info(), "rates", "per second")),
        known_(recall_tuning(key_)) {}

  /// The file keeps the milliseconds for 10^9 units.
  double get(const char* name, double otherwise, double (*measure)(Device)) {
    std::optional<double> kept;
    for (const TuningResult& one : known_)
      if (one.candidate == name && one.milliseconds > 0) kept = 1e12 / one.milliseconds;
    if (!measures(tune_policy(), std::numeric_limits<double>::infinity(), 0))
      return kept.value_or(otherwise);
    try {
      const double rate = measure(device_);
      if (kept && std::abs(rate / *kept - 1) <= kClose) return *kept;
      remember_tuning(key_, {{.candidate = name, .milliseconds = 1e12 / rate}});
      return rate;
    } catch (const OutOfMemory&) {
      return kept.value_or(otherwise);
    } catch (const std::system_error&) {  // no thread could be started
      return kept.value_or(otherwise);
    }
  }

 private:
  Device device_;
  TuningKey key_;
  std::vector<TuningResult> known_;
};

DeviceRates find_rates(Device device, bool backing) {
  Rates rates(device);
  DeviceRates result{.multiply_adds = rates.get("multiply-adds", kMultiplyAdds, multiply_add_rate),
                     .bytes = rates.get("bytes", kBytes, byte_rate),
                     .start = 1 / rates.get("kernels", kStarts, start_rate)};
  if (kHasDevices && (backing || !device.is_cpu()))
    result.link = {
        .to_host = rates.get("to host", kLink, device.is_cpu() ? to_store_rate : to_host_rate),
        .to_device =
            rates.get("to device", kLink, device.is_cpu() ? from_store_rate : to_device_rate),
        .overlaps = backing,
        .copy = 1 / rates.get("copies", kCopies, copy_rate)};
  if (result.link && device.is_cpu())
    result.link->slows = 1 / rates.get("copies beside", kBeside, rate_beside);
  device.memory().trim();
  return result;
}

}  // namespace

void set_device_rates(const std::optional<DeviceRates>& rates) { given() = rates; }

DeviceRates device_rates(Device device) {
  if (given()) return *given();
  static std::mutex mutex;
  static std::map<std::tuple<std::string, TuneMode, uint64_t, bool>, DeviceRates> known;
  const bool backing = kHasDevices && device.memory().backing() != nullptr;
  const std::tuple key(device.name(), tune_policy().mode, tuning_clear_count(), backing);
  std::lock_guard lock(mutex);
  auto at = known.find(key);
  if (at == known.end()) at = known.emplace(key, find_rates(device, backing)).first;
  return at->second;
}

}  // namespace kaiseki
