// SPDX-License-Identifier: MIT
// Settings, shapes and ONNX export of max and average pooling.
#pragma once

#include <algorithm>

#include "matrix/ops/pool.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {

inline void pool_settings(Settings& settings, Pool2d& pool) {
  settings.pair("kernel_size", pool.window, {.required = true});
  settings.pair("stride", pool.stride, {.default_of = "kernel_size"});
  settings.pair("padding", pool.padding, {.low = 0});
  settings.boolean("ceil_mode", pool.ceil_mode);
}

/// Writes MaxPool or AveragePool. If ONNX's formula for ceil_mode gives another size, the export
/// pads the end instead.
void pool_to_onnx(OnnxLayerWriter& onnx, const Pool2d& pool, bool maximum);

inline LayerShape pooled_shape(std::span<const Shape> inputs, const Pool2d& pool) {
  const Shape& x = only_input(inputs, 3, "[channels, height, width]");
  const Shape y = pool2d_shape({1, x[0], x[1], x[2]}, pool);
  LayerShape shape{.output = {y[1], y[2], y[3]}};
  const int64_t height = std::min(pool.window[0], x[1]), width = std::min(pool.window[1], x[2]);
  shape.window_reads = static_cast<double>(shape.output.elements()) * static_cast<double>(height) *
                       static_cast<double>(width);
  return shape;
}

}  // namespace kaiseki::nn
