// SPDX-License-Identifier: MIT
// Fully connected layer: y = x W^T + b. x has all elements of a sample, W is [outputs, inputs].
#include "matrix/ops/gemm.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class FullyConnected : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.integer("output_size", outputs_, {.required = true});
    settings.boolean("bias", bias_);
    settings.initializer("weight_initializer", weight_init_);
    settings.initializer("bias_initializer", bias_init_);
  }

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
    Tensor from = dy, x = as_rows(pass.inputs[0]);
    if (pass.gather) pass.weight_is_whole = (*pass.gather)(x, from);
    gemm(from, x, pass.gradients[0], {.transpose_a = true, .beta = pass.beta[0]});
    if (bias_) reduce_into(pass.gradients[1], Reduction::sum, dy, {0}, pass.beta[1]);
    if (!pass.needs_gradient[0]) return;
    Tensor dx(pass.shapes[0], DType::f32, dy.device());
    Tensor rows = as_rows(dx);
    gemm(dy, pass.parameters[0].value, rows);
    pass.grad_inputs[0] = dx;
  }

  BackwardReads backward_reads() const override { return {.input = true}; }
  bool fuses_activation() const override { return true; }
  bool writes_gradients() const override { return true; }

  void to_onnx(OnnxLayerWriter& onnx) const override {
    if (onnx.input_shape.rank() != 1) {
      const std::string flat = onnx.free_name(onnx.name + ".flatten");
      onnx.add(OnnxNode("Flatten", flat, onnx.inputs, flat).integer("axis", 1));
      onnx.inputs = {flat};
    }
    onnx.inputs.push_back(onnx.parameter("weight"));
    if (bias_) onnx.inputs.push_back(onnx.parameter("bias"));
    onnx.add(onnx.node("Gemm").integer("transB", 1));
  }

 private:
  int64_t outputs_ = 0;
  bool bias_ = true;
  Initializer weight_init_{Initializer::Kind::he}, bias_init_;
};

}  // namespace

std::unique_ptr<Layer> make_fully_connected() { return std::make_unique<FullyConnected>(); }

}  // namespace kaiseki::nn
