// SPDX-License-Identifier: MIT
// ActivationLayer: an elementwise function whose derivative follows from its output.
#pragma once

#include "nn/layers/layers.h"

namespace kaiseki::nn {

class ActivationLayer : public Layer {
 public:
  explicit ActivationLayer(Activation kind, float slope = 0.01f) : activation_{kind, slope} {}

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs)};
  }
  Tensor forward(ForwardPass& pass) const override;
  void backward(BackwardPass& pass) const override;
  Keeps keeps() const override { return {.output = true}; }
  std::optional<FusedActivation> as_activation() const override { return activation_; }

 private:
  FusedActivation activation_;
};

}  // namespace kaiseki::nn
