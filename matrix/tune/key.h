// SPDX-License-Identifier: MIT
// TuningKey: the subject of a measurement, and the machine.
#pragma once

#include <cstdint>
#include <string>

#include "matrix/device.h"

namespace kaiseki {

struct TuningKey {
  std::string device, driver;  // names; results of other devices or drivers are ignored
  int threads = 0;             // threads, or cores of a CPU's OpenCL device; 0 if irrelevant
  std::string operation, which;
  /// For shipped_tuning(): `which` without its minibatch, and the minibatch. If which_per_image is
  /// empty, no measurements are shipped.
  std::string which_per_image = {};
  int64_t minibatch = 0;
};

/// The current number of threads for the CPU. The number of cores for a CPU's OpenCL device. 0 for
/// a GPU.
int tuning_threads(const DeviceInfo& info);
TuningKey tuning_key(const DeviceInfo& info, std::string operation, std::string which);

}  // namespace kaiseki
