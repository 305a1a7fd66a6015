// SPDX-License-Identifier: MIT
// 1 / (1 + exp(-gain * x)), element by element. A gain of 2 is (tanh(x) + 1) / 2, Sukiyaki's tanh.
#include "matrix/ops/elementwise.h"
#include "nn/layers/activation.h"

namespace kaiseki::nn {
namespace {

class ScaledSigmoid : public Layer {
 public:
  explicit ScaledSigmoid(float gain) : gain_(gain) {}

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs)};
  }
  Tensor forward(ForwardPass& pass) const override {
    return elementwise("sigmoid(gain * x)", {{"gain", gain_}, {"x", pass.inputs[0]}});
  }
  void backward(BackwardPass& pass) const override {
    if (pass.wanted[0])
      pass.grad_inputs[0] = elementwise(
          "gain * g * y * (1 - y)", {{"gain", gain_}, {"g", pass.grad_output}, {"y", pass.output}});
  }
  Keeps keeps() const override { return {.output = true}; }

 private:
  float gain_;
};

}  // namespace

std::unique_ptr<Layer> make_sigmoid(LayerParams& params) {
  const auto gain = static_cast<float>(params.number("gain", 1, 1e-3, 1e3));
  if (gain == 1) return std::make_unique<ActivationLayer>(Activation::sigmoid);
  return std::make_unique<ScaledSigmoid>(gain);
}

}  // namespace kaiseki::nn
