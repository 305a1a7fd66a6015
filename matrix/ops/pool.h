// SPDX-License-Identifier: MIT
// Two-dimensional pooling in NCHW. f32.
#pragma once

#include <array>

#include "matrix/tensor.h"

namespace kaiseki {

struct PoolArgs;

struct Pool2d {
  std::array<int64_t, 2> window{2, 2}, stride{2, 2}, padding{0, 0};
  bool ceil_mode = false;  // rounds the output size up; a window always starts inside the input
  /// average: divides by the whole window, not by the number of elements in it.
  bool count_padding = false;
};

/// The output shape for x [n, c, h, w]. Throws ShapeError.
Shape pool2d_shape(const Shape& x, const Pool2d& pool);

/// Overwrites y. Writes the position of each maximum in its plane h*w to indices (i32, the shape of
/// y).
void max_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y, Tensor& indices);
void max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Pool2d& pool, Tensor& dx);
void average_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y);
void average_pool2d_backward(const Tensor& dy, const Pool2d& pool, Tensor& dx);

/// The arguments of a pooling of x to y, without the tensors.
PoolArgs pool_args(const Shape& x, const Shape& y, const Pool2d& pool, bool maximum);

}  // namespace kaiseki
