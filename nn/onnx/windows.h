// SPDX-License-Identifier: MIT
// Window: what Conv and the pools say of the places where they look, in ONNX's words and in ours.
#pragma once

#include <array>

#include "nn/onnx/importer.h"

namespace kaiseki::nn::onnx {

struct Window {
  std::array<int64_t, 2> kernel{}, stride{}, dilation{}, begin{}, end{};
  bool ceil_mode = false;

  /// How far a window reaches along an axis.
  int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// Windows along an axis of `in` elements, by ONNX's formula; 0 or less when none fits.
  int64_t length(int axis, int64_t in) const;
};

/// Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for a picture [c, h, w].
/// `kernel`: what the weights say, or zeros.
Window read_window(Op& op, const Shape& input, std::array<int64_t, 2> kernel);

/// One number for both directions, or [vertical, horizontal].
Json pair_json(const std::array<int64_t, 2>& pair);

}  // namespace kaiseki::nn::onnx
