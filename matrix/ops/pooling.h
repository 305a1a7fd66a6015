// SPDX-License-Identifier: MIT
// Two-dimensional pooling in NCHW. f32.
#pragma once

#include <array>

#include "matrix/tensor.h"

namespace kaiseki {

struct PoolingArgs;

struct Pooling2d {
  std::array<int64_t, 2> window{2, 2}, stride{2, 2}, padding{0, 0};
  bool ceil_mode = false;  // rounds the output size up; a window always starts inside the input
  /// average: divides by the whole window, not by the number of elements in it.
  bool count_padding = false;
};

/// The output shape for x [n, c, h, w]. Throws ShapeError.
Shape pooling2d_shape(const Shape& x, const Pooling2d& pooling);

/// Overwrites y. Writes the position of each maximum in its plane h*w to indices (i32, the shape of
/// y).
void max_pool2d_into(Tensor& y, Tensor& indices, const Tensor& x, const Pooling2d& pooling);
void max_pool2d_backward_into(Tensor& dx, const Tensor& dy, const Tensor& indices,
                              const Pooling2d& pooling);
void average_pool2d_into(Tensor& y, const Tensor& x, const Pooling2d& pooling);
void average_pool2d_backward_into(Tensor& dx, const Tensor& dy, const Pooling2d& pooling);

/// The arguments of a pooling of x to y, without the tensors.
PoolingArgs pooling_args(const Shape& x, const Shape& y, const Pooling2d& pooling, bool maximum);

}  // namespace kaiseki
