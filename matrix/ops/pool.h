// SPDX-License-Identifier: MIT
// Two-dimensional pooling in NCHW. f32.
#pragma once

#include <array>

#include "matrix/tensor.h"

namespace kaiseki {

struct PoolArgs;

struct Pool2d {
  std::array<int64_t, 2> window{2, 2}, stride{2, 2}, padding{0, 0};
  bool ceil_mode = false;      // round the output size up; a window always starts inside the input
  bool count_padding = false;  // average: divide by the whole window, not by the elements in it
};

/// Shape of the output for x [n, c, h, w]. Throws ShapeError.
Shape pool2d_shape(const Shape& x, const Pool2d& pool);

/// y overwritten; indices (i32, the shape of y) gets each maximum's position in its plane h*w.
void max_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y, Tensor& indices);
void max_pool2d_backward(const Tensor& dy, const Tensor& indices, const Pool2d& pool, Tensor& dx);
void average_pool2d(const Tensor& x, const Pool2d& pool, Tensor& y);
void average_pool2d_backward(const Tensor& dy, const Pool2d& pool, Tensor& dx);

/// What backends are told of a pooling of x to y, without the tensors.
PoolArgs pool_args(const Shape& x, const Shape& y, const Pool2d& pool, bool maximum);

}  // namespace kaiseki
