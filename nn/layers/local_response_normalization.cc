// SPDX-License-Identifier: MIT
// Local response normalisation across channels (Krizhevsky et al. 2012).
#include "matrix/ops/norm.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class LocalResponseNormalization : public Layer {
 public:
  explicit LocalResponseNormalization(LayerParams& params) {
    norm_.size = params.integer("size", 5);
    norm_.alpha = static_cast<float>(params.number("alpha", 1e-4, 0, 1e6));
    norm_.beta = static_cast<float>(params.number("beta", 0.75, 0, 100));
    norm_.k = static_cast<float>(params.number("k", 1, 1e-6, 1e6));
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs, 3, "[channels, height, width]")};
  }
  Tensor forward(ForwardPass& pass) const override {
    Tensor y(pass.inputs[0].shape(), DType::f32, pass.inputs[0].device());
    lrn(pass.inputs[0], norm_, y);
    return y;
  }
  void backward(BackwardPass& pass) const override {
    if (!pass.wanted[0]) return;
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    lrn_backward(pass.inputs[0], pass.output, pass.grad_output, norm_, pass.grad_inputs[0]);
  }
  Keeps keeps() const override { return {.input = true, .output = true}; }

 private:
  Lrn norm_;
};

}  // namespace

std::unique_ptr<Layer> make_local_response_normalization(LayerParams& params) {
  return std::make_unique<LocalResponseNormalization>(params);
}

}  // namespace kaiseki::nn
