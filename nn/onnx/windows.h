// SPDX-License-Identifier: MIT
// OnnxWindow: the windows of Conv and pooling. Converts ONNX's attributes to our settings.
#pragma once

#include <array>

#include "nn/onnx/importer.h"

namespace kaiseki::nn::onnx {

struct OnnxWindow {
  std::array<int64_t, 2> kernel{}, stride{}, dilation{}, begin{}, end{};
  bool ceil_mode = false;

  /// The extent of a dilated window along an axis.
  int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// The number of windows along an axis of `in` elements, by ONNX's formula. It is 0 or less if no
  /// window fits.
  int64_t length(int axis, int64_t in) const;
};

/// Throws ParseError if the node has automatic padding. Call it after a Pad, because automatic
/// padding ignores the zeros of Pad.
void expect_no_automatic_padding(OnnxOp& op);
/// Reads kernel_shape, strides, dilations, pads, auto_pad and ceil_mode for a picture [c, h, w].
/// `kernel` is the size in the weights, or zeros.
OnnxWindow read_window(OnnxOp& op, const Shape& input, std::array<int64_t, 2> kernel);

/// One number for both directions, or [vertical, horizontal].
Json pair_json(const std::array<int64_t, 2>& pair);

}  // namespace kaiseki::nn::onnx
