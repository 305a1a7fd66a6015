// SPDX-License-Identifier: MIT
// Max pooling: the maximum over windows of each channel.
#include "matrix/ops/pooling.h"
#include "nn/layers/layers.h"
#include "nn/layers/pooling.h"

namespace kaiseki::nn {
namespace {

class MaxPooling : public Layer {
 public:
  void settings(Settings& settings) override { pooling_settings(settings, pooling_); }

  LayerShape infer(std::span<const Shape> inputs) override {
    return pooled_shape(inputs, pooling_);
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    const Shape shape = pooling2d_shape(x.shape(), pooling_);
    Tensor y(shape, DType::f32, x.device()), indices(shape, DType::i32, x.device());
    max_pool2d_into(y, indices, x, pooling_);
    if (pass.save_for_backward) pass.saved = {indices};
    return y;
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    max_pool2d_backward_into(pass.grad_inputs[0], pass.grad_output, pass.saved[0], pooling_);
  }

  FusedPooling as_pooling() const override { return pooling_; }
  bool saves_like_output() const override { return true; }
  bool takes_maximum() const override { return true; }
  void to_onnx(OnnxLayerWriter& onnx) const override { pooling_to_onnx(onnx, pooling_, true); }

 private:
  Pooling2d pooling_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pooling() { return std::make_unique<MaxPooling>(); }

}  // namespace kaiseki::nn
