// SPDX-License-Identifier: MIT
// The device: its description, its memory, its errors, and that kernels ran at all.
#include "matrix/backend/opencl/device.h"

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/status.h"
#include "matrix/error.h"
#include "matrix/opencl.h"
#include "matrix/ops/copy.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki::opencl {

TEST_CASE("opencl device: describes itself") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  DeviceInfo info = backend->info();
  CHECK(info.device == Device::opencl(0));
  CHECK(!info.name.empty());
  CHECK(!info.platform.empty());
  CHECK(info.compute_units >= 1);
  CHECK(info.memory > 0);
  CHECK(info.max_allocation > 0);
  CHECK(opencl_device_problem().empty());
  CHECK_THROWS_WITH_AS(Device::opencl(99), doctest::Contains("got opencl:99"), DeviceError);
}

TEST_CASE("opencl device: a buffer over the largest allocation is refused with its limit") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  uint64_t limit = backend->opencl().facts().max_allocation;
  CHECK_THROWS_WITH_AS(Tensor(Shape{static_cast<int64_t>(limit)}, DType::f32, Device::opencl(0)),
                       doctest::Contains("CL_DEVICE_MAX_MEM_ALLOC_SIZE"), DeviceError);
  Tensor small = Tensor::full(Shape{3}, 4, Device::opencl(0));
  CHECK(small.to_vector() == std::vector<float>{4, 4, 4});
}

TEST_CASE("opencl device: a tensor without elements") {
  if (!test::opencl_or_null()) return;
  Tensor none(Shape{0, 3}, DType::f32, Device::opencl(0));
  fill(none, 1);
  CHECK(none.clone().to_vector().empty());
}

TEST_CASE("opencl device: copies are ordered after the kernels before them") {
  if (!test::opencl_or_null()) return;
  Tensor t(Shape{1 << 20}, DType::f32, Device::opencl(0));
  for (int i = 0; i < 5; ++i) {
    fill(t, static_cast<float>(i));
    CHECK(t.data<float>()[(1 << 20) - 1] == static_cast<float>(i));
  }
}

TEST_CASE("opencl errors have names") {
  CHECK(status_name(CL_OUT_OF_RESOURCES) == "CL_OUT_OF_RESOURCES");
  CHECK(status_name(-9999) == "status -9999");
  CHECK_NOTHROW(check(CL_SUCCESS, "clFinish", "a device"));
  CHECK_THROWS_WITH_AS(check(CL_INVALID_KERNEL_ARGS, "clFinish", "a device"),
                       "[opencl] clFinish on a device: CL_INVALID_KERNEL_ARGS", DeviceError);
}

TEST_CASE("opencl launch: parameters become as wide as the largest tensor needs") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  Tensor t = Tensor::zeros(Shape{5}, DType::f32, Device::opencl(0));
  Launch(backend->opencl(), "fill.cl", "fill", "-DTYPE=float")
      .index(int64_t{1} << 33)
      .arg(2.5f)
      .out(t)
      .over(4);
  CHECK(t.to_vector() == std::vector<float>{2.5f, 2.5f, 2.5f, 2.5f, 0});
}

}  // namespace kaiseki::opencl
