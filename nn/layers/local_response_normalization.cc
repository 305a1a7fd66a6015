// SPDX-License-Identifier: MIT
// Local response normalization across channels (Krizhevsky et al. 2012).
#include <algorithm>

#include "matrix/ops/norm.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class LocalResponseNormalization : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.integer("size", size_);
    settings.number("alpha", alpha_, {.low = 0, .high = 1e6});
    settings.number("beta", beta_, {.low = 0, .high = 100});
    settings.number("k", k_,
                    {.low = 1e-6, .high = 1e6, .doc = "x / (k + alpha/size sum x^2)^beta"});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    LayerShape shape{.output = only_input(inputs, 3, "[channels, height, width]")};
    shape.window_reads = static_cast<double>(shape.output.elements()) *
                         static_cast<double>(std::min(size_, shape.output[0]));
    return shape;
  }
  Tensor forward(ForwardPass& pass) const override {
    Tensor y(pass.inputs[0].shape(), DType::f32, pass.inputs[0].device());
    lrn_into(y, pass.inputs[0], norm());
    return y;
  }
  void backward(BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    lrn_backward_into(pass.grad_inputs[0], pass.inputs[0], pass.output, pass.grad_output, norm());
  }
  BackwardReads backward_reads() const override { return {.input = true, .output = true}; }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    if (size_ % 2 == 0) onnx.refuse("windows of an odd number of channels");
    onnx.add(onnx.node("LRN")
                 .number("alpha", alpha_)
                 .number("beta", beta_)
                 .number("bias", k_)
                 .integer("size", size_));
  }

 private:
  Lrn norm() const {
    return {.size = size_,
            .alpha = static_cast<float>(alpha_),
            .beta = static_cast<float>(beta_),
            .k = static_cast<float>(k_)};
  }

  int64_t size_ = 5;
  double alpha_ = 1e-4, beta_ = 0.75, k_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_local_response_normalization() {
  return std::make_unique<LocalResponseNormalization>();
}

}  // namespace kaiseki::nn
