// SPDX-License-Identifier: MIT
#include "matrix/tune/key.h"

#include <utility>

#include "matrix/threads.h"

namespace kaiseki {

int tuning_threads(const DeviceInfo& info) {
  if (info.device.is_cpu()) return thread_count();
  return info.is_gpu ? 0 : info.compute_units;
}

TuningKey tuning_key(const DeviceInfo& info, std::string operation, std::string which) {
  const std::string& driver = info.device.is_cpu() ? info.platform : info.driver;
  return {info.name, driver, tuning_threads(info), std::move(operation), std::move(which)};
}

}  // namespace kaiseki
