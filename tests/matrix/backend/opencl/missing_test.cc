// SPDX-License-Identifier: MIT
// A machine on which OpenCL does not work: run with an environment that breaks it (CMakeLists.txt).
// The library then works on the CPU and says why.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "matrix/backend.h"
#include "matrix/error.h"
#include "matrix/log.h"
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

TEST_CASE("the CPU works and does not touch OpenCL") {
  Tensor x = Tensor::from({1, 2, 3}, Shape{3}, Device::parse("cpu"));
  CHECK(elementwise("x * 2", {{"x", x}}).to_vector() == std::vector<float>{2, 4, 6});
  CHECK_FALSE(loaded("libOpenCL"));
}

TEST_CASE("without a working OpenCL device the CPU is chosen, and the reason is known") {
  CHECK(list_opencl_devices().empty());
  std::string problem = opencl_device_problem();
  CHECK(problem.starts_with("[opencl] "));
  CHECK(problem.find('\n') == std::string::npos);
  MESSAGE(problem);
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  CHECK(Device::automatic().is_cpu());
  CHECK(Device::parse("auto").is_cpu());
  CHECK(Device::parse("").is_cpu());
  set_log_sink({});
  CHECK(warnings == std::vector<std::string>{problem + "; computing on the CPU"});
  CHECK(list_devices().size() == 1);
  CHECK_THROWS_AS(Device::opencl(0), DeviceError);
  CHECK_THROWS_AS(Device::parse("opencl"), DeviceError);
  CHECK_THROWS_AS(Device::parse("opencl"), DeviceError);
  CHECK(opencl_kernel_count().launches == 0);
}

}  // namespace kaiseki
