// SPDX-License-Identifier: MIT
// Fully connected layer: y = x W^T + b over all of a sample's elements; W is [outputs, inputs].
#include "matrix/ops/gemm.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class FullyConnected : public Layer {
 public:
  explicit FullyConnected(LayerParams& params)
      : outputs_(params.integer("output_size", std::nullopt)),
        bias_(params.boolean("bias", true)),
        weight_init_(params.initializer("weight_initializer", {Initializer::Kind::he})),
        bias_init_(params.initializer("bias_initializer", {})) {}

  LayerShape infer(std::span<const Shape> inputs) override {
    const int64_t size = only_input(inputs).elements();
    require(size > 0, "fully_connected", "expected an input with elements, got ", inputs[0]);
    LayerShape shape{.output = {outputs_}};
    shape.parameters.push_back({"weight", {outputs_, size}, weight_init_, size, outputs_});
    if (bias_) shape.parameters.push_back({"bias", {outputs_}, bias_init_, size, outputs_, false});
    shape.multiply_adds = outputs_ * size;
    return shape;
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor x = as_rows(pass.inputs[0]);
    Tensor y({x.dim(0), outputs_}, DType::f32, x.device());
    GemmOptions options{
        .transpose_b = true, .activation = pass.activation.kind, .slope = pass.activation.slope};
    if (bias_) options.bias_per_column = &pass.parameters[1].value;
    gemm(x, pass.parameters[0].value, y, options);
    return y;
  }

  void backward(BackwardPass& pass) const override {
    const Tensor& dy = pass.grad_output;
    Parameter& weight = pass.parameters[0];
    gemm(dy, as_rows(pass.inputs[0]), weight.grad,
         {.transpose_a = true, .beta = weight.keep_grad()});
    if (bias_)
      reduce_into(Reduction::sum, dy, {0}, pass.parameters[1].grad, pass.parameters[1].keep_grad());
    if (!pass.wanted[0]) return;
    Tensor dx(pass.shapes[0], DType::f32, dy.device());
    Tensor rows = as_rows(dx);
    gemm(dy, pass.parameters[0].value, rows);
    pass.grad_inputs[0] = dx;
  }

  Keeps keeps() const override { return {.input = true}; }
  bool fuses_activation() const override { return true; }
  bool writes_gradients() const override { return true; }

 private:
  int64_t outputs_;
  bool bias_;
  Initializer weight_init_, bias_init_;
};

}  // namespace

std::unique_ptr<Layer> make_fully_connected(LayerParams& params) {
  return std::make_unique<FullyConnected>(params);
}

}  // namespace kaiseki::nn
