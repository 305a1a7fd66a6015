// SPDX-License-Identifier: MIT
#include "nn/layers/activation.h"

#include "matrix/ops/elementwise.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

std::string_view gradient_of(Activation kind) {
  switch (kind) {
    case Activation::relu:
      return "y > 0 ? g : 0";
    case Activation::leaky_relu:
      return "y > 0 ? g : slope * g";
    case Activation::sigmoid:
      return "g * y * (1 - y)";
    case Activation::tanh:
      return "g * (1 - y * y)";
    case Activation::none:
      break;
  }
  return "g";
}

std::vector<Binding> with_slope(std::vector<Binding> bindings, const FusedActivation& activation) {
  if (activation.kind == Activation::leaky_relu) bindings.push_back({"slope", activation.slope});
  return bindings;
}

}  // namespace

std::string with_x(std::string_view formula, std::string_view expression) {
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string text;
  for (size_t first = 0; first < formula.size();) {
    size_t end = first;
    while (end < formula.size() && in_name(formula[end])) ++end;
    if (end == first) ++end;
    const std::string_view part = formula.substr(first, end - first);
    text += part == "x" ? expression : part;
    first = end;
  }
  return text;
}

void apply_activation(const FusedActivation& activation, Tensor& y) {
  if (activation.kind != Activation::none)
    elementwise_into(y, activation_formula(activation.kind), with_slope({{"x", y}}, activation));
}

Tensor activated(const FusedActivation& activation, const std::string& expression,
                 const std::vector<Binding>& bindings) {
  return elementwise(with_x(activation_formula(activation.kind), expression),
                     with_slope(bindings, activation));
}

Tensor activation_gradient(const FusedActivation& activation, const Tensor& y, const Tensor& dy,
                           bool may_overwrite) {
  const std::vector<Binding> bindings = with_slope({{"g", dy}, {"y", y}}, activation);
  if (!may_overwrite) return elementwise(gradient_of(activation.kind), bindings);
  Tensor dx = dy;
  elementwise_into(dx, gradient_of(activation.kind), bindings);
  return dx;
}

Tensor ActivationLayer::forward(ForwardPass& pass) const {
  Tensor y = pass.may_overwrite
                 ? pass.inputs[0]
                 : Tensor(pass.inputs[0].shape(), DType::f32, pass.inputs[0].device());
  elementwise_into(y, activation_formula(activation_.kind),
                   with_slope({{"x", pass.inputs[0]}}, activation_));
  return y;
}

void ActivationLayer::backward(BackwardPass& pass) const {
  if (pass.needs_gradient[0])
    pass.grad_inputs[0] =
        activation_gradient(activation_, pass.output, pass.grad_output, pass.may_overwrite);
}

void ActivationLayer::to_onnx(OnnxLayerWriter& onnx) const {
  switch (activation_.kind) {
    case Activation::relu:
      return onnx.add(onnx.node("Relu"));
    case Activation::leaky_relu:
      return onnx.add(onnx.node("LeakyRelu").number("alpha", activation_.slope));
    case Activation::sigmoid:
      return onnx.add(onnx.node("Sigmoid"));
    case Activation::tanh:
      return onnx.add(onnx.node("Tanh"));
    case Activation::none:
      return onnx.add(onnx.node("Identity"));
  }
}

}  // namespace kaiseki::nn
