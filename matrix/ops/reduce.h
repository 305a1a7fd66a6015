// SPDX-License-Identifier: MIT
// Reductions along any axes. The order of additions is fixed, so the result does not depend on the
// number of threads. An empty list of axes means all axes.
#pragma once

#include <span>
#include <vector>

#include "matrix/backend/operations/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

using Axes = std::vector<int>;

/// For empty input, the sum is 0, the product 1 and the mean is NaN. any() is false, all() is true.
/// max() and min() throw ShapeError. A NaN is the result of max and min, and is true for any() and
/// all().
Tensor reduce(Reduction kind, const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// f32 and f64 give their own type. i32, u8 and bool give i32, which wraps.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// f32 and f64 give their own type, other types f32.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Any type, which is also that of the result.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
/// Whether any or all elements are not 0. Any type, to bool.
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor all(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// out = reduction + beta * out, for f32 and f64. The shape of out lacks the reduced axes. Not for
/// prod, any and all.
void reduce_into(Tensor& out, Reduction kind, const Tensor& x, const Axes& axes, float beta = 0);

/// The first index (i32) of the extreme value along one axis. The result lacks that axis. Any type.
/// A NaN counts as the extreme value.
Tensor argmax(const Tensor& x, int axis);
Tensor argmin(const Tensor& x, int axis);
/// The same over all elements, row-major: a tensor of rank 0.
Tensor argmax(const Tensor& x);
Tensor argmin(const Tensor& x);

}  // namespace kaiseki
