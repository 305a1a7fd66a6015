// SPDX-License-Identifier: MIT
// ActivationLayer: an elementwise function. Its derivative is computed from its output.
#pragma once

#include "nn/layers/layers.h"

namespace kaiseki::nn {

/// Returns the formula with the expression, which has parentheses, in place of the variable x.
/// "max(x, 0)" and "(a + b)" give "max((a + b), 0)".
std::string with_x(std::string_view formula, std::string_view expression);

class ActivationLayer : public Layer {
 public:
  explicit ActivationLayer(Activation kind) : activation_{kind} {}

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs)};
  }
  Tensor forward(ForwardPass& pass) const override;
  void backward(BackwardPass& pass) const override;
  BackwardReads backward_reads() const override { return {.output = true}; }
  std::optional<FusedActivation> as_activation() const override { return activation_; }
  void to_onnx(OnnxLayerWriter& onnx) const override;

 protected:
  FusedActivation activation_;
};

}  // namespace kaiseki::nn
