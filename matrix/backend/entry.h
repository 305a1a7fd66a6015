// SPDX-License-Identifier: MIT
// BackendEntry: the description of a backend in the registry.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/device.h"

namespace kaiseki {

/// A build without the backend links a stub that has no devices.
struct BackendEntry {
  std::string_view name;  // "opencl": its devices are opencl:0, opencl:1, ...
  /// Returns the backend of one device, always the same object. Throws DeviceError with the reason.
  Backend& (*open)(int index);
  /// The devices that work.
  std::vector<DeviceInfo> (*devices)();
  /// The first problem, as a text for users. Empty if there is none.
  std::string (*problem)();
};

}  // namespace kaiseki
