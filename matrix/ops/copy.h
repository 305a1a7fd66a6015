// SPDX-License-Identifier: MIT
// Copies, fills and concatenation.
#pragma once

#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// Copies the elements of `from` to a tensor of the same shape and type, with any strides, on any
/// devices.
void copy_into(Tensor& to, const Tensor& from);
/// Sets all elements of a contiguous tensor. Throws ShapeError if the type cannot represent the
/// value.
void fill(Tensor& t, double value);
/// Concatenates along an axis. The other dimensions must agree. Throws ShapeError.
Tensor concatenate(std::span<const Tensor> parts, int axis);

}  // namespace kaiseki
