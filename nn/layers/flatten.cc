// SPDX-License-Identifier: MIT
// All of a sample's elements in one dimension.
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class Flatten : public Layer {
 public:
  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = {only_input(inputs).elements()}};
  }
  Tensor forward(ForwardPass& pass) const override { return as_rows(pass.inputs[0]); }
  void backward(BackwardPass& pass) const override {
    if (pass.wanted[0]) pass.grad_inputs[0] = pass.grad_output.reshape(pass.shapes[0]);
  }
  bool is_view(Phase) const override { return true; }
};

}  // namespace

std::unique_ptr<Layer> make_flatten(LayerParams&) { return std::make_unique<Flatten>(); }

}  // namespace kaiseki::nn
