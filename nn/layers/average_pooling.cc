// SPDX-License-Identifier: MIT
// Average pooling: the mean over windows of each channel.
#include "matrix/ops/pooling.h"
#include "nn/layers/layers.h"
#include "nn/layers/pooling.h"

namespace kaiseki::nn {
namespace {

class AveragePooling : public Layer {
 public:
  void settings(Settings& settings) override {
    pooling_settings(settings, pooling_);
    settings.boolean("count_padding", pooling_.count_padding,
                     {.doc = "divide by the size of the whole window"});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    return pooled_shape(inputs, pooling_);
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    Tensor y(pooling2d_shape(x.shape(), pooling_), DType::f32, x.device());
    average_pool2d_into(y, x, pooling_);
    return y;
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    average_pool2d_backward_into(pass.grad_inputs[0], pass.grad_output, pooling_);
  }

  void to_onnx(OnnxLayerWriter& onnx) const override { pooling_to_onnx(onnx, pooling_, false); }

 private:
  Pooling2d pooling_;
};

}  // namespace

std::unique_ptr<Layer> make_average_pooling() { return std::make_unique<AveragePooling>(); }

}  // namespace kaiseki::nn
