// SPDX-License-Identifier: MIT
// A machine with a broken OpenCL. CMakeLists.txt sets an environment that breaks it. The library
// then works on the CPU. Opening a device reports the reason.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/registry.h"
#include "matrix/opencl.h"
#include "matrix/ops/elementwise.h"

namespace kaiseki {
namespace {

bool loaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(library) != std::string::npos;
}

}  // namespace

TEST_CASE("the CPU works without loading OpenCL") {
  Tensor x = Tensor::from({1, 2, 3}, Shape{3}, Device::parse("cpu"));
  CHECK(elementwise("x * 2", {{"x", x}}).to_vector() == std::vector<float>{2, 4, 6});
  CHECK_FALSE(loaded("libOpenCL"));
}

TEST_CASE("without a working OpenCL device, the CPU is chosen, with a warning if a driver fails") {
  const BackendEntry& opencl = find_backend("opencl");
  CHECK(opencl.devices().empty());
  const std::string problem = opencl.problem();
  std::vector<std::string> expected;  // without a driver, the CPU is no surprise
  if (std::getenv("POCL_EXTRA_BUILD_FLAGS")) {
    CHECK(problem.starts_with("[opencl] "));
    CHECK(problem.find('\n') == std::string::npos);
    expected = {problem + "; computing on the CPU"};
  } else {
    CHECK(problem == "");
  }
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  CHECK(Device::automatic().is_cpu());
  CHECK(Device::parse("auto").is_cpu());
  CHECK(Device::parse("").is_cpu());
  set_log_sink({});
  CHECK(warnings == expected);
  CHECK(list_devices().size() == 1);
  std::string reason;
  try {
    Device::opencl(0);
  } catch (const DeviceError& error) {
    reason = error.what();
  }
  CHECK(reason.starts_with("[opencl] "));
  CHECK(reason.find('\n') == std::string::npos);
  MESSAGE(reason);
  CHECK_THROWS_AS(Device::parse("opencl"), DeviceError);
  CHECK_THROWS_AS(Device::parse("opencl"), DeviceError);
  CHECK(opencl_kernel_count().launches == 0);
}

}  // namespace kaiseki
