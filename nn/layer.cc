// SPDX-License-Identifier: MIT
#include "nn/layer.h"

#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {

void Layer::to_onnx(OnnxLayerWriter& onnx) const {
  onnx.refuse("a layer for which ONNX has an operator");
}

}  // namespace kaiseki::nn
