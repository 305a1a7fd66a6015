// SPDX-License-Identifier: MIT
#include "matrix/memory/place_copies.h"

#include <doctest/doctest.h>

#include <vector>

#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"
#include "tests/support/simulated_link.h"

namespace kaiseki {

TEST_CASE("place copies: a program reads and writes a tensor of OpenCL that is in a file") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  const test::WithStyle with(backend->opencl(), opencl::Style::gpu);
  const test::SimulatedLink link(1e12);
  Allocator& page_locked = *device.memory().backing();
  page_locked.trim();
  page_locked.set_budget(1);
  // Several parts of 8 MiB, and one that is shorter.
  Tensor tensor = test::random_tensor({5'000'003}, 1, device);
  std::vector<float> expected = tensor.to_vector();
  const auto move = [&] {
    tensor.buffer().on_device(Access::read_write);  // the copy on the host is old
    tensor.buffer().leave_device();
    CHECK(tensor.buffer().left_device());
  };
  const auto check = [&] {
    CHECK(tensor.to_vector() == expected);
    tensor.buffer().on_device(Access::read);
    CHECK(tensor.to_vector() == expected);
  };
  move();
  check();
  move();
  tensor.mutable_data<float>()[7] = expected[7] = 3;
  check();
  page_locked.set_budget({});
}

}  // namespace kaiseki
