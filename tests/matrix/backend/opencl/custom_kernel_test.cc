// SPDX-License-Identifier: MIT
// Custom kernels: every type of argument, views, wrong arguments, and a program that does not
// compile.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.h"
#include "matrix/opencl.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki {
namespace {

const char* kScale = R"(
__kernel void scale(__global float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] = x[i] * a;
})";

}  // namespace

TEST_CASE("custom kernel: runs on tensors and is counted") {
  if (!test::opencl_or_null()) return;
  Device device = Device::opencl(0);
  CustomKernel scale(kScale, "scale");
  Tensor x = Tensor::from({1, 2, 3, 4, 5}, Shape{5}, device);
  OpenclKernelCount before = opencl_kernel_count();
  scale.run(device, {x, 2.0f, int32_t{5}}, {8}, {4});
  scale.run(device, {x, 0.5f, int32_t{2}}, {5});
  OpenclKernelCount after = opencl_kernel_count();
  CHECK(x.to_vector() == std::vector<float>{1, 2, 6, 8, 10});
  CHECK(after.launches == before.launches + 2);
  CHECK(after.distinct == before.distinct + 1);
}

TEST_CASE("custom kernel: views are copied before and after") {
  if (!test::opencl_or_null()) return;
  Device device = Device::opencl(0);
  CustomKernel scale(kScale, "scale");
  Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, Shape{2, 3}, device);
  scale.run(device, {x.slice(1, 1, 2), 10.0f, int32_t{4}}, {4});
  CHECK(x.to_vector() == std::vector<float>{1, 20, 30, 4, 50, 60});
  scale.run(device, {x.slice(0, 1, 1), -1.0f, int32_t{3}}, {3});
  CHECK(x.to_vector() == std::vector<float>{1, 20, 30, -4, -50, -60});
}

TEST_CASE("custom kernel: integers of both widths, options, several dimensions") {
  if (!test::opencl_or_null()) return;
  Device device = Device::opencl(0);
  CustomKernel kernel(R"(
__kernel void number(__global int* y, uint a, long b, ulong c) {
  y[get_global_id(1) * 3 + get_global_id(0)] = a + b + c + BASE + get_global_id(0);
})",
                      "number", "-DBASE=1000");
  Tensor y = Tensor::zeros(Shape{2, 3}, DType::i32, device);
  kernel.run(device, {y, uint32_t{1}, int64_t{20}, uint64_t{300}}, {3, 2});
  CHECK(y.to_vector<int32_t>() == std::vector<int32_t>{1321, 1322, 1323, 1321, 1322, 1323});
  kernel.run(device, {y, uint32_t{1}, int64_t{20}, uint64_t{300}}, {0, 2});
}

TEST_CASE("custom kernel: wrong arguments are errors") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  Device device = Device::opencl(0);
  CustomKernel scale(kScale, "scale");
  Tensor x = Tensor::from({1, 2}, Shape{2}, device), host = Tensor::from({1}, Shape{1});
  CHECK_THROWS_AS(scale.run(Device::cpu(), {x, 1.0f, int32_t{2}}, {2}), DeviceError);
  CHECK_THROWS_AS(scale.run(device, {host, 1.0f, int32_t{2}}, {2}), ShapeError);
  CHECK_THROWS_AS(scale.run(device, {x, 1.0f, int32_t{2}}, {}), ShapeError);
  CHECK_THROWS_AS(scale.run(device, {x, 1.0f, int32_t{2}}, {2}, {3}), ShapeError);
  const std::string& label = backend->opencl().label();
  CHECK_THROWS_WITH_AS(
      scale.run(device, {x, int64_t{1}, int32_t{2}}, {2}),
      doctest::Contains(("clSetKernelArg(scale, 1) on " + label + ": CL_INVALID_ARG_SIZE").c_str()),
      DeviceError);
  CHECK_THROWS_WITH_AS(
      CustomKernel(kScale, "other").run(device, {x}, {2}),
      doctest::Contains(("clCreateKernel(other) on " + label + ": CL_INVALID_KERNEL_NAME").c_str()),
      DeviceError);
  CHECK(x.to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("custom kernel: the log of a program that does not compile is kept in a file") {
  if (!test::opencl_or_null()) return;
  Device device = Device::opencl(0);
  Tensor x = Tensor::from({1, 2}, Shape{2}, device);
  CustomKernel broken("__kernel void broken(__global float* x) { x[0] = nonsense; }", "broken");
  std::string text;
  try {
    broken.run(device, {x}, {2});
  } catch (const DeviceError& error) {
    text = error.what();
  }
  CHECK(text.find("CL_BUILD_PROGRAM_FAILURE") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  size_t at = text.find("the whole log is in ");
  REQUIRE(at != std::string::npos);
  std::filesystem::path file = text.substr(at + 20);
  CHECK(std::filesystem::file_size(file) > 60);
  std::filesystem::remove(file);
}

}  // namespace kaiseki
