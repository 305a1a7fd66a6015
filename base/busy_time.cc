// SPDX-License-Identifier: MIT
#include "base/busy_time.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace kaiseki {
namespace {

std::atomic<int> measurements = 0;

struct BusySeconds {
  std::mutex mutex;
  std::map<std::string, double, std::less<>> of_device;
};

BusySeconds& busy() {
  static auto* one = new BusySeconds;  // outlives every static device
  return *one;
}

}  // namespace

BusyTimeMeasurement::BusyTimeMeasurement() noexcept { ++measurements; }
BusyTimeMeasurement::~BusyTimeMeasurement() { --measurements; }

bool busy_time_is_measured() { return measurements > 0; }

void add_busy_seconds(std::string_view device, double seconds) {
  std::lock_guard lock(busy().mutex);
  busy().of_device[std::string(device)] += seconds;
}

std::optional<double> busy_seconds(std::string_view device) {
  std::lock_guard lock(busy().mutex);
  const auto found = busy().of_device.find(device);
  return found == busy().of_device.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kaiseki
