// SPDX-License-Identifier: MIT
// Copies to a GPU run beside its kernels, in the right order.
#include "matrix/backend/opencl/copy_queues.h"

#include <doctest/doctest.h>

#include <vector>

#include "matrix/ops/elementwise.h"
#include "tests/matrix/backend/opencl/support.h"

namespace kaiseki::opencl {
namespace {

/// Longer than a part of the page-locked memory, and no multiple of it.
constexpr int64_t kLong = (int64_t{5} << 20) + 13;

Tensor numbers(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 1000);
  return Tensor::from<float>(values, Shape{count}, Device::opencl(0));
}

void add_to(Tensor& sum, const Tensor& x) { update("s = s + x", {{"s", sum}, {"x", x}}); }

}  // namespace

TEST_CASE("copy queues: kernels wait for copies, and copies for the kernels before them") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  for (int64_t count : {int64_t{1}, int64_t{1000}, kLong}) {
    CAPTURE(count);
    Tensor sum = Tensor::zeros(Shape{count}, DType::f32, Device::opencl(0));
    // Each tensor is freed while its kernel is queued, and the next one takes its memory.
    for (int i = 0; i < 12; ++i) add_to(sum, numbers(count, static_cast<float>(i)));
    const std::vector<float> values = sum.to_vector();
    int wrong = 0;
    for (size_t i = 0; i < values.size(); ++i)
      wrong += values[i] != 66 + 12 * static_cast<float>(i % 1000);
    CHECK(wrong == 0);
  }
}

TEST_CASE("copy queues: memory is released while a kernel or a copy that uses it is queued") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  Tensor sum = Tensor::zeros(Shape{kLong}, DType::f32, Device::opencl(0));
  for (int i = 0; i < 8; ++i) {
    add_to(sum, numbers(kLong, static_cast<float>(i)));
    sum.device().memory().reclaim();
  }
  CHECK(sum.data<float>()[0] == 28);
  CHECK(sum.data<float>()[kLong - 1] == 28 + 8 * static_cast<float>((kLong - 1) % 1000));
}

TEST_CASE("copy queues: values that the host changes are copied again") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  Tensor input = numbers(kLong, 0), sum = Tensor::zeros(input.shape(), DType::f32, input.device());
  for (int i = 0; i < 4; ++i) {
    add_to(sum, input);
    input.mutable_data<float>()[kLong - 1] += 1;  // while the kernel reads the old values
  }
  CHECK(sum.data<float>()[kLong - 1] == 4 * static_cast<float>((kLong - 1) % 1000) + 6);
  CHECK(sum.data<float>()[0] == 0);
}

}  // namespace kaiseki::opencl
