// SPDX-License-Identifier: MIT
// Comparisons of tensors with NumPy's rules, with broadcasting. All tensors are on one device.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-8;
  bool equal_nan = false;  // whether NaN is close to NaN
};

/// A bool tensor: a == b. NaN is not equal to itself.
Tensor equal(const Tensor& a, const Tensor& b);
/// A bool tensor: |a - b| <= absolute + relative * |b|, in f32. An infinity is close only to
/// itself.
Tensor isclose(const Tensor& a, const Tensor& b, const Tolerance& tolerance = {});

/// Whether the shapes are the same and all elements are equal. The types may differ.
bool array_equal(const Tensor& a, const Tensor& b);
/// Whether all elements are close. Throws ShapeError if the shapes do not broadcast together.
bool allclose(const Tensor& a, const Tensor& b, const Tolerance& tolerance = {});
/// Whether an element is NaN.
bool has_nan(const Tensor& x);

}  // namespace kaiseki
