// SPDX-License-Identifier: MIT
// Softmax over the first dimension of a sample (the classes or the channels).
#include "matrix/ops/softmax.h"

#include "nn/layers/layers.h"

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
    if (pass.wanted[0]) pass.grad_inputs[0] = softmax_backward(pass.output, pass.grad_output, 1);
  }
  Keeps keeps() const override { return {.output = true}; }
  bool is_softmax() const override { return true; }
};

}  // namespace

std::unique_ptr<Layer> make_softmax(LayerParams&) { return std::make_unique<Softmax>(); }

}  // namespace kaiseki::nn
