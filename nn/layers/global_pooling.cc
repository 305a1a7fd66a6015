// SPDX-License-Identifier: MIT
// Global pooling: the mean or the maximum of each channel.
#include "matrix/ops/pooling.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class GlobalPooling : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.choice("kind", maximum_, {"average", "max"});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    const Shape& x = only_input(inputs, 3, "[channels, height, width]");
    require(x[1] > 0 && x[2] > 0, "global_pooling", "expected a plane with elements, got ", x);
    return {.output = {x[0], 1, 1}};
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    const Pooling2d pooling = whole_plane(x.shape());
    const Shape shape = {x.dim(0), x.dim(1), 1, 1};
    Tensor y(shape, DType::f32, x.device());
    if (!maximum_) {
      average_pool2d_into(y, x, pooling);
      return y;
    }
    Tensor indices(shape, DType::i32, x.device());
    max_pool2d_into(y, indices, x, pooling);
    if (pass.save_for_backward) pass.saved = {indices};
    return y;
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    const Pooling2d pooling = whole_plane(pass.shapes[0]);
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    if (maximum_)
      max_pool2d_backward_into(pass.grad_inputs[0], pass.grad_output, pass.saved[0], pooling);
    else
      average_pool2d_backward_into(pass.grad_inputs[0], pass.grad_output, pooling);
  }

  bool saves_like_output() const override { return maximum_; }
  bool takes_maximum() const override { return maximum_; }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.add(onnx.node(maximum_ ? "GlobalMaxPool" : "GlobalAveragePool"));
  }

 private:
  static Pooling2d whole_plane(const Shape& x) {
    return {.window = {x[2], x[3]}, .stride = {x[2], x[3]}};
  }
  bool maximum_ = false;
};

}  // namespace

std::unique_ptr<Layer> make_global_pooling() { return std::make_unique<GlobalPooling>(); }

}  // namespace kaiseki::nn
