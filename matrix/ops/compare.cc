// SPDX-License-Identifier: MIT
#include "matrix/ops/compare.h"

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"

namespace kaiseki {
namespace {

/// Counts in f32: a sum of ones is 0 only if there are none.
bool any_of(const Tensor& truth) { return sum(cast(truth, DType::f32)).item() != 0; }
bool all_of(const Tensor& truth) { return !any_of(elementwise("!x", {{"x", truth}})); }

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) {
  return elementwise("a == b", {{"a", a}, {"b", b}});
}

Tensor isclose(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  return elementwise(
      "a == b || (isfinite(b) && abs(f32(a) - f32(b)) <= atol + rtol * abs(f32(b))) ||"
      " (nan && isnan(a) && isnan(b))",
      {{"a", a},
       {"b", b},
       {"rtol", static_cast<float>(tolerance.relative)},
       {"atol", static_cast<float>(tolerance.absolute)},
       {"nan", tolerance.equal_nan ? 1 : 0}});
}

bool array_equal(const Tensor& a, const Tensor& b) {
  require(a.defined() && b.defined(), "array_equal", "expected tensors, got an empty one");
  return a.shape() == b.shape() && all_of(equal(a, b));
}

bool allclose(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  return all_of(isclose(a, b, tolerance));
}

bool has_nan(const Tensor& x) { return any_of(elementwise("isnan(x)", {{"x", x}})); }

}  // namespace kaiseki
