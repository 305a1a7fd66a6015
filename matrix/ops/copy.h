// SPDX-License-Identifier: MIT
// Copies, fills, concatenation, rows by index.
#pragma once

#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// Copies elements between tensors of one shape and type, any strides, any devices.
void copy(const Tensor& from, Tensor& to);
/// f32 or i32, contiguous.
void fill(Tensor& t, float value);
/// Along an axis; the other dimensions agree. Throws ShapeError.
Tensor concatenate(std::span<const Tensor> parts, int axis);

/// Rows of `table` [n, ...] by index (i32 [count]): [count, ...].
Tensor gather(const Tensor& table, const Tensor& rows);
/// table[rows[i]] += source[i], in the order of i.
void scatter_add(Tensor& table, const Tensor& rows, const Tensor& source);

}  // namespace kaiseki
