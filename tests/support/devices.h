// SPDX-License-Identifier: MIT
// Runs a test on the CPU and on every OpenCL device that is there.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "matrix/device.h"

namespace kaiseki::test {

/// The CPU, and every OpenCL device that opens.
inline std::vector<Device> all_devices() {
  std::vector<Device> devices;
  for (const DeviceInfo& info : list_devices()) devices.push_back(info.device);
  return devices;
}

/// Calls body(device) for each of them; a failure names the device.
inline void for_each_device(const std::function<void(Device)>& body) {
  for (Device device : all_devices()) {
    std::string name = device.name();
    CAPTURE(name);
    body(device);
  }
}

}  // namespace kaiseki::test
