// SPDX-License-Identifier: MIT
// Axes and order: other arrangements of the same elements. Any type. All throw ShapeError.
#pragma once

#include <span>
#include <vector>

#include "matrix/ops/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Views. They copy no elements.
/// Removes these axes, which have length 1. Without a list, removes all axes of length 1.
Tensor squeeze(const Tensor& x, const Axes& axes = {});
/// Inserts an axis of length 1, which becomes axis `axis` of the result.
Tensor expand_dims(const Tensor& x, int axis);
/// Reverses the order along these axes. An empty list means all axes.
Tensor flip(const Tensor& x, const Axes& axes = {});
/// Moves an axis to another position. The others keep their order.
Tensor moveaxis(const Tensor& x, int from, int to);
/// Cuts an axis into parts of equal length.
std::vector<Tensor> split(const Tensor& x, int64_t parts, int axis);
/// Cuts an axis before these positions, which ascend.
std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> positions, int axis);

/// New tensors.
/// Moves elements by `shift` positions along the axis. Those at the end come back at the start.
Tensor roll(const Tensor& x, int64_t shift, int axis);
/// Joins tensors of one shape along a new axis.
Tensor stack(std::span<const Tensor> parts, int axis);
/// Repeats x as a whole, repeats[i] times along axis i. Has at least as many axes as `repeats`.
Tensor tile(const Tensor& x, const Shape& repeats);
/// Repeats each element along the axis.
Tensor repeat(const Tensor& x, int64_t repeats, int axis);
/// Repeats element i along the axis repeats[i] times. i32 [n], which is read on the host.
Tensor repeat(const Tensor& x, const Tensor& repeats, int axis);

}  // namespace kaiseki
