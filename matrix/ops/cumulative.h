// SPDX-License-Identifier: MIT
// Sums, products and extremes of all elements up to each one. A NaN propagates.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

/// y[i] = x[0] + ... + x[i] along the axis, with the shape of x. f32 and f64 give their own type.
/// i32, u8 and bool give i32, which wraps. All throw ShapeError.
Tensor cumsum(const Tensor& x, int axis);
Tensor cumprod(const Tensor& x, int axis);
/// The largest or smallest element so far, of the type of x.
Tensor cummax(const Tensor& x, int axis);
Tensor cummin(const Tensor& x, int axis);

}  // namespace kaiseki
