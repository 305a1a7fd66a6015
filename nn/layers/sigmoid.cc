// SPDX-License-Identifier: MIT
// Sigmoid: 1 / (1 + exp(-gain * x)), element by element. With gain 2 it is (tanh(x) + 1) / 2, which
// is Sukiyaki's tanh.
#include "matrix/ops/elementwise.h"
#include "nn/layers/activation.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Sigmoid : public ActivationLayer {
 public:
  Sigmoid() : ActivationLayer(Activation::sigmoid) {}
  void settings(Settings& settings) override {
    settings.number("gain", gain_, {.low = 1e-3, .high = 1e3, .doc = "1 / (1 + exp(-gain x))"});
  }
  Tensor forward(ForwardPass& pass) const override {
    if (plain()) return ActivationLayer::forward(pass);
    return elementwise("sigmoid(gain * x)",
                       {{"gain", static_cast<float>(gain_)}, {"x", pass.inputs[0]}});
  }
  void backward(BackwardPass& pass) const override {
    if (plain()) return ActivationLayer::backward(pass);
    if (pass.needs_gradient[0])
      pass.grad_inputs[0] = elementwise(
          "gain * g * y * (1 - y)",
          {{"gain", static_cast<float>(gain_)}, {"g", pass.grad_output}, {"y", pass.output}});
  }
  std::optional<FusedActivation> as_activation() const override {
    return plain() ? ActivationLayer::as_activation() : std::nullopt;
  }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    if (!plain()) {
      const std::string scaled = onnx.free_name(onnx.name + ".scaled");
      onnx.inputs.push_back(onnx.scalar("gain", gain_));
      onnx.add({"Mul", scaled, onnx.inputs, scaled});
      onnx.inputs = {scaled};
    }
    onnx.add(onnx.node("Sigmoid"));
  }

 private:
  bool plain() const { return static_cast<float>(gain_) == 1; }
  double gain_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_sigmoid() { return std::make_unique<Sigmoid>(); }

}  // namespace kaiseki::nn
