// SPDX-License-Identifier: MIT
// The device: its description, its memory and its errors. Also checks that kernels ran.
#include "matrix/backend/opencl/device.h"

#include "base/error.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/status.h"
#include "matrix/memory/host_room.h"
#include "matrix/opencl.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/lazy.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

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
  CHECK_THROWS_WITH_AS(Device::opencl(99), doctest::Contains("got opencl:99"), DeviceError);
}

TEST_CASE("opencl device: a buffer above the maximum allocation stays on the host") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  uint64_t limit = backend->opencl().facts().max_allocation;
  Tensor outside(Shape{static_cast<int64_t>(limit)}, DType::f32, Device::opencl(0));
  CHECK_THROWS_WITH_AS(outside.buffer().on_device(Access::write),
                       doctest::Contains("CL_DEVICE_MAX_MEM_ALLOC_SIZE"), DeviceError);
  Tensor small = Tensor::full(Shape{3}, 4, Device::opencl(0));
  CHECK(small.to_vector() == std::vector<float>{4, 4, 4});
}

TEST_CASE("opencl device: a CPU device has the host's available memory, others report their own") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const uint64_t available = backend->opencl().available();
  CHECK(available > 0);
  CHECK((available < host_room().total) == backend->opencl().facts().is_cpu);
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

TEST_CASE("opencl device: without room, the cache is freed and the call is made once more") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice& device = backend->opencl();
  Allocator& allocator = Device::opencl(0).memory();
  allocator.release(allocator.allocate(4096), 4096);
  REQUIRE(allocator.account().cached > 0);
  std::vector<cl_int> answers = {CL_OUT_OF_RESOURCES, CL_SUCCESS};
  int calls = 0;
  device.enqueue("clTest", 1 << 20, [&] { return answers[calls++]; });
  CHECK(calls == 2);
  CHECK(allocator.account().cached == 0);
  for (cl_int status :
       {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY})
    CHECK_THROWS_WITH_AS(
        device.enqueue("clTest", 1 << 20, [&] { return status; }),
        doctest::Contains(("asked for 1.0 MiB, in use " + format_bytes(allocator.account().in_use) +
                           ", cached 0 B, after clTest said " + status_name(status))
                              .c_str()),
        OutOfMemory);
  calls = 0;
  answers = {CL_INVALID_VALUE};
  CHECK_THROWS_WITH_AS(device.enqueue("clTest", 1, [&] { return answers[calls++]; }),
                       doctest::Contains("CL_INVALID_VALUE"), DeviceError);
}

TEST_CASE(
    "opencl device: above the limit, the oldest kernels are dropped and rebuilt when needed") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice device(0, backend->opencl().facts());
  device.set_kernel_limit(2);
  std::lock_guard lock(device.launch_mutex());
  const std::string names[] = {"lrn_forward", "lrn_ratio", "lrn_backward"};
  for (int round = 0; round < 2; ++round)
    for (const std::string& name : names) {
      CHECK(device.kernel("lrn.cl", Source::file, name, "-DSIZE=5").handle != nullptr);
      CHECK(device.kernel_count() <= 2);
    }
  CHECK(device.kernel("lrn.cl", Source::file, "lrn_ratio", "-DSIZE=5").work_group_limit > 1);
}

TEST_CASE("opencl launch: more rows than the maximum number of work-groups in a dimension") {
  if (!test::opencl_or_null()) return;
  const int64_t rows = 2 * 65535 + 3;
  Tensor column = test::random_tensor(Shape{rows, 1}, 1, Device::opencl(0));
  Tensor row = test::random_tensor(Shape{64}, 2, Device::opencl(0));
  Tensor y = column + row;
  test::Doubles left = test::doubles(column), right = test::doubles(row), expected;
  for (double a : left)
    for (double b : right) expected.push_back(a + b);
  test::check_close(y, expected, 1e-6, 1e-7);
}

}  // namespace kaiseki::opencl
