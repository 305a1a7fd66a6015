// SPDX-License-Identifier: MIT
// Two-dimensional convolution (cross-correlation) in NCHW, all three directions. f32.
#pragma once

#include <array>
#include <optional>

#include "matrix/activation.h"
#include "matrix/conv/problem.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct Conv2d {
  /// `padding`: rows and columns of zeros before the first ones.
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
  /// After the last row and column. Without a value as many as before the first ones.
  std::optional<std::array<int64_t, 2>> end_padding = {};
};

/// A convolution ends with activation(sums + bias).
struct ConvEpilogue {
  const Tensor* bias = nullptr;  // [k]
  Activation activation = Activation::none;
  float slope = 0.01f;  // of leaky_relu
};

/// The problem for x [n, c, h, w] and filter [k, c/groups, r, s]. Throws ShapeError.
ConvProblem conv_problem(const Shape& x, const Shape& filter, const Conv2d& conv);

/// y = activation(x * filter + bias). Overwrites y [n, k, out_h, out_w]. A NaN or an infinity in x
/// affects the outputs that read it. Winograd's solver computes filters of 3x3 and 5x5 with many
/// channels. With it, the NaN also affects neighbors up to three rows and columns away.
void conv2d_into(Tensor& y, const Tensor& x, const Tensor& filter, const Conv2d& conv,
                 const ConvEpilogue& epilogue = {});
/// Overwrites dx, which has the shape of x.
void conv2d_backward_data_into(Tensor& dx, const Tensor& dy, const Tensor& filter,
                               const Conv2d& conv);
/// dfilter = gradient + beta * dfilter.
void conv2d_backward_filter_into(Tensor& dfilter, const Tensor& x, const Tensor& dy,
                                 const Conv2d& conv, float beta = 0);

}  // namespace kaiseki
