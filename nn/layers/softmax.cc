// SPDX-License-Identifier: MIT
// Softmax over the first dimension of a sample (the classes or the channels).
#include "matrix/ops/softmax.h"

#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Softmax : public Layer {
 public:
  LayerShape infer(std::span<const Shape> inputs) override {
    const Shape& x = only_input(inputs);
    require(x.rank() > 0 && x[0] > 0, "softmax", "expected an input with classes, got ", x);
    return {.output = x};
  }
  Tensor forward(ForwardPass& pass) const override { return softmax(pass.inputs[0], 1); }
  void backward(BackwardPass& pass) const override {
    if (pass.needs_gradient[0])
      pass.grad_inputs[0] = softmax_backward(pass.output, pass.grad_output, 1);
  }
  BackwardReads backward_reads() const override { return {.output = true}; }
  bool is_softmax() const override { return true; }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.add(onnx.node("Softmax").integer("axis", 1));
  }
};

}  // namespace

std::unique_ptr<Layer> make_softmax() { return std::make_unique<Softmax>(); }

}  // namespace kaiseki::nn
