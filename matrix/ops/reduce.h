// SPDX-License-Identifier: MIT
// Reductions along any axes. The order of additions is fixed: the result does not depend on the
// number of threads. An empty list of axes means all of them. f32.
#pragma once

#include <span>
#include <vector>

#include "matrix/backend.h"
#include "matrix/tensor.h"

namespace kaiseki {

using Axes = std::vector<int>;

/// Sum over nothing is 0, mean NaN; max and min of nothing throw ShapeError. A NaN wins max and
/// min.
Tensor reduce(Reduction kind, const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor max(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);
Tensor min(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// out = reduction + beta * out; out has the shape without the reduced axes.
void reduce_into(Reduction kind, const Tensor& x, const Axes& axes, Tensor& out, float beta = 0);

/// First index (i32) of the extreme value along one axis, which disappears.
Tensor argmax(const Tensor& x, int axis);
Tensor argmin(const Tensor& x, int axis);

}  // namespace kaiseki
