// SPDX-License-Identifier: MIT
// Settings, shapes and ONNX export of max and average pooling.
#pragma once

#include <algorithm>

#include "matrix/ops/pooling.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {

inline void pooling_settings(Settings& settings, Pooling2d& pooling) {
  settings.pair("kernel_size", pooling.window, {.required = true});
  settings.pair("stride", pooling.stride, {.default_of = "kernel_size"});
  settings.pair("padding", pooling.padding, {.low = 0});
  settings.boolean("ceil_mode", pooling.ceil_mode);
}

/// Writes MaxPool or AveragePool. If ONNX's formula for ceil_mode gives another size, the export
/// pads the end instead.
void pooling_to_onnx(OnnxLayerWriter& onnx, const Pooling2d& pooling, bool maximum);

inline LayerShape pooled_shape(std::span<const Shape> inputs, const Pooling2d& pooling) {
  const Shape& x = only_input(inputs, 3, "[channels, height, width]");
  const Shape y = pooling2d_shape({1, x[0], x[1], x[2]}, pooling);
  LayerShape shape{.output = {y[1], y[2], y[3]}};
  const int64_t height = std::min(pooling.window[0], x[1]),
                width = std::min(pooling.window[1], x[2]);
  shape.window_reads = static_cast<double>(shape.output.elements()) * static_cast<double>(height) *
                       static_cast<double>(width);
  return shape;
}

}  // namespace kaiseki::nn
