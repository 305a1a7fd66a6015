// SPDX-License-Identifier: MIT
// Runs a test on every device of list_devices().
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/backend/dispatch.h"
#include "matrix/device.h"

namespace kaiseki::test {

/// Returns whether there is an OpenCL device. Without one, the test fails if
/// KAISEKI_TEST_REQUIRE_OPENCL is set, as ./check does.
inline bool opencl_is_there() {
  const BackendEntry& opencl = find_backend("opencl");
  if (!opencl.devices().empty()) return true;
  if (std::getenv("KAISEKI_TEST_REQUIRE_OPENCL"))
    FAIL("expected an OpenCL device, as KAISEKI_TEST_REQUIRE_OPENCL is set, got none: "
         << opencl.problem());
  return false;
}

/// Returns the CPU and every device of the other backends.
inline std::vector<Device> all_devices() {
  opencl_is_there();
  std::vector<Device> devices;
  for (const DeviceInfo& info : list_devices()) devices.push_back(info.device);
  return devices;
}

/// Calls body(device) for each device. A failure names the device.
inline void for_each_device(const std::function<void(Device)>& body) {
  for (Device device : all_devices()) {
    std::string name = device.name();
    CAPTURE(name);
    const uint64_t fallbacks = fallback_count();
    body(device);
    // The device itself must have computed.
    const uint64_t on_cpu = fallback_count() - fallbacks;
    CHECK_MESSAGE(on_cpu == 0, "operations that ran on the CPU: ", on_cpu, ", the last is ",
                  last_fallback());
  }
}

}  // namespace kaiseki::test
