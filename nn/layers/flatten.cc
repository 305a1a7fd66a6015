// SPDX-License-Identifier: MIT
// Reshapes a sample to one dimension.
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Flatten : public Layer {
 public:
  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = {only_input(inputs).elements()}};
  }
  Tensor forward(ForwardPass& pass) const override { return as_rows(pass.inputs[0]); }
  void backward(BackwardPass& pass) const override {
    if (pass.needs_gradient[0]) pass.grad_inputs[0] = pass.grad_output.reshape(pass.shapes[0]);
  }
  bool is_view(Phase) const override { return true; }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.add(onnx.node("Flatten").integer("axis", 1));
  }
};

}  // namespace

std::unique_ptr<Layer> make_flatten() { return std::make_unique<Flatten>(); }

}  // namespace kaiseki::nn
