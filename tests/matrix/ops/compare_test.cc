// SPDX-License-Identifier: MIT
#include "matrix/ops/compare.h"

#include <limits>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("equal: gives bools, and NaN is not equal to itself") {
  for_each_device([](Device device) {
    const Tensor a = Tensor::from({1, 2, kNoNumber, kInfinite}, {4}, device);
    const Tensor b = Tensor::from({1, 3, kNoNumber, kInfinite}, {4}, device);
    const Tensor e = equal(a, b);
    CHECK(e.dtype() == DType::boolean);
    check_close(e, {1, 0, 0, 1}, 0);
    check_close(equal(a, a.slice(0, 0, 1)), {1, 0, 0, 0}, 0);
  });
}

TEST_CASE("isclose: NumPy's rule is not symmetric, and infinities are close to themselves") {
  for_each_device([](Device device) {
    const Tensor a = Tensor::from({100, 110, 0, kInfinite, kInfinite, kNoNumber, 1}, {7}, device);
    const Tensor b =
        Tensor::from({110, 100, 1e-9f, kInfinite, -kInfinite, kNoNumber, kInfinite}, {7}, device);
    check_close(isclose(a, b, {.relative = 0.095, .absolute = 1e-8}), {1, 0, 1, 1, 0, 0, 0}, 0);
    check_close(isclose(a, b, {.equal_nan = true}), {0, 0, 1, 1, 0, 1, 0}, 0);
    const Tensor low = cast(Tensor::from({-2e9f, 5}, {2}, device), DType::i32),
                 high = cast(Tensor::from({2e9f, 5}, {2}, device), DType::i32);
    check_close(isclose(low, high), {0, 1}, 0);
  });
}

TEST_CASE("array_equal and allclose: one answer for all elements, 0 of them too") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({37, 29}, 1, device);
    Tensor b = a.clone();
    CHECK(array_equal(a, b));
    CHECK(allclose(a, b));
    b.mutable_data<float>()[700] += 1e-6f;
    CHECK_FALSE(array_equal(a, b));
    CHECK(allclose(a, b));
    b.mutable_data<float>()[1072] += 1;
    CHECK_FALSE(allclose(a, b));
    CHECK_FALSE(array_equal(a, a.slice(0, 0, 36)));
    CHECK_FALSE(array_equal(a, a.reshape({37, 29, 1})));
    CHECK_FALSE(array_equal(a, a.reshape({37 * 29})));
    CHECK_THROWS_AS(allclose(a, a.slice(0, 0, 36)), ShapeError);
    const Tensor none({0, 3}, DType::f32, device);
    CHECK(array_equal(none, none));
    CHECK(allclose(none, none));
    CHECK_FALSE(has_nan(none));
    const Tensor whole = Tensor::from({1, 2}, {2}, device);
    CHECK(array_equal(whole, cast(whole, DType::u8)));
  });
}

TEST_CASE("has_nan: finds one NaN among many numbers") {
  for_each_device([](Device device) {
    Tensor a = random_tensor({5003}, 2, device);
    CHECK_FALSE(has_nan(a));
    a.mutable_data<float>()[5002] = kNoNumber;
    CHECK(has_nan(a));
    CHECK_FALSE(has_nan(cast(a, DType::i32)));
    CHECK_FALSE(has_nan(Tensor::from({kInfinite}, {1}, device)));
  });
  CHECK_THROWS_AS(has_nan(Tensor()), ShapeError);
}
