// SPDX-License-Identifier: MIT
// Copies, fills, concatenation, and rows by index.
#pragma once

#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// Copies elements between tensors of the same shape and type, with any strides, on any devices.
void copy(const Tensor& from, Tensor& to);
/// Sets all elements of a contiguous f32, f64 or i32 tensor.
void fill(Tensor& t, double value);
/// Concatenates along an axis. The other dimensions must agree. Throws ShapeError.
Tensor concatenate(std::span<const Tensor> parts, int axis);

/// Copies the rows of `table` [n, ...] with the given indices (i32 [count]) to a new tensor [count,
/// ...].
Tensor gather(const Tensor& table, const Tensor& rows);
/// table[rows[i]] += source[i], in the order of i.
void scatter_add(Tensor& table, const Tensor& rows, const Tensor& source);

}  // namespace kaiseki
