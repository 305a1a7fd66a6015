// SPDX-License-Identifier: MIT
// What maximum and average pooling share: their settings and shapes.
#pragma once

#include "matrix/ops/pool.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {

inline Pool2d read_pool(LayerParams& params) {
  Pool2d pool;
  pool.window = params.pair("kernel_size", std::nullopt, 1);
  pool.stride = params.pair("stride", pool.window, 1);
  pool.padding = params.pair("padding", {{0, 0}}, 0);
  pool.ceil_mode = params.boolean("ceil_mode", false);
  return pool;
}

inline Shape pooled_shape(std::span<const Shape> inputs, const Pool2d& pool) {
  const Shape& x = only_input(inputs, 3, "[channels, height, width]");
  const Shape y = pool2d_shape({1, x[0], x[1], x[2]}, pool);
  return {y[1], y[2], y[3]};
}

}  // namespace kaiseki::nn
