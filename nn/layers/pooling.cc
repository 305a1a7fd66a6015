// SPDX-License-Identifier: MIT
#include "nn/layers/pooling.h"

#include <algorithm>

#include "matrix/ceil_div.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {

void pooling_to_onnx(OnnxLayerWriter& onnx, const Pooling2d& pooling, bool maximum) {
  const bool counts = !maximum && pooling.count_padding;
  const Shape &x = onnx.input_shape, &y = onnx.output_shape;
  std::array<int64_t, 2> end = pooling.padding;
  bool up = true, down = true;  // whether rounding up (down) gives the size
  for (int i = 0; i < 2; ++i) {
    const int64_t free = x[i + 1] + 2 * pooling.padding[i] - pooling.window[i],
                  step = pooling.stride[i];
    const int64_t last = (y[i + 1] - 1) * step;
    if (counts && last > free) onnx.refuse("windows within the counted padding");
    up = up && round_up(free, step) == last;
    down = down && free / step * step == last;
  }
  const bool ceil_mode = pooling.ceil_mode && up;
  for (int i = 0; i < 2 && !ceil_mode && !down; ++i)
    end[i] = std::max<int64_t>(
        0, (y[i + 1] - 1) * pooling.stride[i] + pooling.window[i] - x[i + 1] - pooling.padding[i]);
  OnnxNode node = onnx.node(maximum ? "MaxPool" : "AveragePool");
  if (ceil_mode) node.integer("ceil_mode", 1);
  if (counts) node.integer("count_include_pad", 1);
  onnx.add(node.integers("kernel_shape", {pooling.window[0], pooling.window[1]})
               .integers("pads", {pooling.padding[0], pooling.padding[1], end[0], end[1]})
               .integers("strides", {pooling.stride[0], pooling.stride[1]}));
}

}  // namespace kaiseki::nn
