// SPDX-License-Identifier: MIT
// Inverted dropout (Srivastava et al. 2014). In training an element becomes 0 with probability
// "ratio". Other elements are divided by 1 - ratio. The test phase changes nothing.
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/random.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class Dropout : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.number("ratio", ratio_,
                    {.low = 0,
                     .high = 0.999,
                     .doc = "the part of elements that become 0 in training; the others are "
                            "divided by 1 - ratio"});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs)};
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    if (pass.phase == Phase::test) return x;
    Tensor mask(x.shape(), DType::f32, x.device());
    if (pass.first_sample > 0 && x.size() > 0)
      pass.random.seek(static_cast<uint64_t>(pass.first_sample * (x.size() / x.dim(0))));
    const float keep = 1 - static_cast<float>(ratio_);
    random_bernoulli_into(mask, pass.random, keep, 1 / keep);
    if (pass.save_for_backward) pass.saved = {mask};
    return product(x, mask, pass.may_overwrite);
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    pass.grad_inputs[0] = pass.phase == Phase::test
                              ? pass.grad_output
                              : product(pass.grad_output, pass.saved[0], pass.may_overwrite);
  }

  bool saves_like_output() const override { return true; }
  bool is_view(Phase phase) const override { return phase == Phase::test; }
  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.inputs.push_back(onnx.scalar("ratio", ratio_));
    onnx.add(onnx.node("Dropout"));
  }

 private:
  static Tensor product(const Tensor& x, const Tensor& mask, bool may_overwrite) {
    if (!may_overwrite) return x * mask;
    Tensor y = x;
    elementwise_into(y, "x * mask", {{"x", x}, {"mask", mask}});
    return y;
  }
  double ratio_ = 0.5;
};

}  // namespace

std::unique_ptr<Layer> make_dropout() { return std::make_unique<Dropout>(); }

}  // namespace kaiseki::nn
