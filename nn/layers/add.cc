// SPDX-License-Identifier: MIT
// Adds inputs of the same shape.
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Add : public Layer {
 public:
  LayerShape infer(std::span<const Shape> inputs) override {
    require(inputs.size() >= 2, "add", "expected two or more inputs, got ", inputs.size());
    for (const Shape& input : inputs)
      require(input == inputs[0], "add", "expected inputs of shape ", inputs[0], ", got ", input);
    return {.output = inputs[0]};
  }
  Tensor forward(ForwardPass& pass) const override {
    if (pass.inputs.size() == 2)
      return activated(pass.activation, "(a + b)", {{"a", pass.inputs[0]}, {"b", pass.inputs[1]}});
    Tensor y = pass.inputs[0] + pass.inputs[1];
    for (const Tensor& x : pass.inputs.subspan(2)) update("y = y + x", {{"y", y}, {"x", x}});
    apply_activation(pass.activation, y);
    return y;
  }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.add(onnx.node(onnx.inputs.size() == 2 ? "Add" : "Sum"));
  }
  bool fuses_activation() const override { return true; }
  bool passes_gradient_on() const override { return true; }
  void backward(BackwardPass& pass) const override {
    for (size_t i = 0; i < pass.shapes.size(); ++i)
      if (pass.needs_gradient[i]) pass.grad_inputs[i] = pass.grad_output;
  }
};

}  // namespace

std::unique_ptr<Layer> make_add() { return std::make_unique<Add>(); }

}  // namespace kaiseki::nn
