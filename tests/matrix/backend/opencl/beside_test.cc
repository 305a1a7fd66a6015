// SPDX-License-Identifier: MIT
// A driver that fails in every way (broken_driver.cc) together with one that works. CMakeLists.txt
// sets an environment in which the loader finds both.
#include <doctest/doctest.h>

#include <string>

#include "base/log.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/registry.h"
#include "matrix/ops/reduce.h"

namespace kaiseki {

TEST_CASE("a broken driver does not hide others, and the first failure is logged once under auto") {
  std::vector<DeviceInfo> devices = find_backend("opencl").devices();
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].platform == "Portable Computing Language");
  CHECK(sum(Tensor::full({7}, 2, devices[0].device)).item() == 14);

  std::string problem = find_backend("opencl").problem();
  MESSAGE(problem);
  CHECK(problem == "[opencl] clGetDeviceIDs on platform no list: CL_OUT_OF_HOST_MEMORY");
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  CHECK(Device::automatic().is_cpu());
  CHECK(Device::automatic().is_cpu());
  set_log_sink({});
  CHECK(warnings == std::vector<std::string>{problem + "; computing on the CPU"});
  CHECK_THROWS_WITH(
      Device::opencl(0),
      doctest::Contains("clCreateContext on opencl:0 (broken): CL_DEVICE_NOT_AVAILABLE"));
}

}  // namespace kaiseki
