// SPDX-License-Identifier: MIT
// Reductions along any axes. The order of additions is fixed, so the result does not depend on the
// number of threads. An empty list of axes means all axes. Values and results are f32 or f64.
#pragma once

#include <span>
#include <vector>

#include "matrix/backend/operations/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

using Axes = std::vector<int>;

/// For empty input, the sum is 0 and the mean is NaN; max and min throw ShapeError. A NaN is the
/// result of max and min.
Tensor reduce(Reduction kind, const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// out = reduction + beta * out. The shape of out lacks the reduced axes.
void reduce_into(Reduction kind, const Tensor& x, const Axes& axes, Tensor& out, float beta = 0);

/// The first index (i32) of the extreme value along one axis. The result lacks that axis.
Tensor argmax(const Tensor& x, int axis);
Tensor argmin(const Tensor& x, int axis);

}  // namespace kaiseki
