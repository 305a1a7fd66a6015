// SPDX-License-Identifier: MIT
#include "matrix/device.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "matrix/backend/registry.h"

namespace kaiseki {

TEST_CASE("devices are parsed from their names") {
  CHECK(Device::parse("cpu").is_cpu());
  CHECK(Device::parse("cpu").name() == "cpu");
  for (const char* bad : {"gpu", "opencl:", "opencl:x", "opencl:-1", "opencl:99", "cpu0"})
    CHECK_THROWS_AS(Device::parse(bad), DeviceError);
  CHECK(device_forms().starts_with("cpu, opencl, opencl:N"));
  CHECK_THROWS_WITH(Device::parse("gpu"),
                    ("[device] expected " + device_forms() + ", got 'gpu'").c_str());
}

TEST_CASE("the list of devices starts with the CPU") {
  auto devices = list_devices();
  REQUIRE(!devices.empty());
  CHECK(devices[0].device.is_cpu());
  CHECK(devices[0].compute_units >= 1);
}

}  // namespace kaiseki
