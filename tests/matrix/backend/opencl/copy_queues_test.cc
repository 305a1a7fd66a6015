// SPDX-License-Identifier: MIT
// Copies to a GPU run beside its kernels, in the right order.
#include "matrix/backend/opencl/copy_queues.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "matrix/memory/buffer.h"
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

/// Limits the device's memory to this many bytes beside the bytes in use.
class WithBudget {
 public:
  explicit WithBudget(uint64_t bytes) {
    memory().trim();
    memory().set_budget(memory().account().in_use + bytes);
    memory().release(memory().allocate(bytes / 8), bytes / 8);  // later blocks are as large
  }
  ~WithBudget() {
    memory().set_budget({});
    memory().trim();
  }
  static Allocator& memory() { return Device::opencl(0).memory(); }
};

constexpr uint64_t kBudget = uint64_t{64} << 20;  // bytes
constexpr int64_t kPiece = int64_t{1} << 19;      // elements, a quarter of a block

Tensor filled(int64_t count, float value) {
  Tensor t(Shape{count}, DType::f32, Device::opencl(0));
  update("t = v", {{"t", t}, {"v", value}});
  return t;
}

int count_other(const std::vector<float>& values, float value) {
  return static_cast<int>(std::ranges::count_if(values, [&](float x) { return x != value; }));
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

TEST_CASE("copy queues: a kernel that overwrites a part waits for a download of an earlier part") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  const WithBudget budget(kBudget);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const auto value = static_cast<float>(i);
    Tensor first = filled(kPiece, value), second = filled(kPiece, value + 0.5f);
    first.buffer().leave_device();
    second.buffer().leave_device();
    const Tensor over = filled(2 * kPiece - 100, -1);  // ends in the second one
    CHECK(count_other(first.to_vector(), value) == 0);
    CHECK(count_other(second.to_vector(), value + 0.5f) == 0);
    CHECK(count_other(over.to_vector(), -1) == 0);
  }
}

TEST_CASE("copy queues: an upload to a part waits for the kernels that used earlier parts") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  const WithBudget budget(kBudget);
  Tensor sum = Tensor::zeros(Shape{kPiece}, DType::f32, Device::opencl(0));
  for (int i = 0; i < 20; ++i) {
    {
      const Tensor one = filled(kPiece, 1), two = filled(kPiece, 2);
      for (int k = 0; k < 5; ++k) {
        add_to(sum, one);
        add_to(sum, two);
      }
    }
    // Its upload begins while the kernels above are queued.
    Tensor over = numbers(2 * kPiece - 100, 1000);
    update("x = x", {{"x", over}});
  }
  CHECK(count_other(sum.to_vector(), 20 * 15) == 0);
}

TEST_CASE("copy queues: tensors come back to other parts, in the right order") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  const WithBudget budget(kBudget);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 24; ++i) tensors.push_back(filled(kPiece - 1000 * i, static_cast<float>(i)));
  for (int round = 0; round < 6; ++round) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if ((i + static_cast<size_t>(round)) % 3 != 0) tensors[i].buffer().leave_device();
    for (size_t i = tensors.size(); i-- > 0;) update("t = t + 1", {{"t", tensors[i]}});
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    CHECK(count_other(tensors[i].to_vector(), static_cast<float>(i) + 6) == 0);
}

TEST_CASE("copy queues: copies between parts of one block") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  const WithBudget budget(kBudget);
  const Tensor from = numbers(kPiece - 1, 5), to = from.clone();
  CHECK(from.to_vector() == to.to_vector());
  CHECK(WithBudget::memory().account().cached > 0);  // the rest of their block
}

}  // namespace kaiseki::opencl
