// SPDX-License-Identifier: MIT
// Dropout (Srivastava et al. 2014), inverted: in training an element is 0 with probability "ratio"
// and else divided by 1 - ratio; the test phase changes nothing.
#include "matrix/ops/elementwise.h"
#include "matrix/ops/random.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class Dropout : public Layer {
 public:
  explicit Dropout(LayerParams& params)
      : ratio_(static_cast<float>(params.number("ratio", 0.5, 0, 0.999))) {}

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = only_input(inputs)};
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    if (pass.phase == Phase::test) return x;
    Tensor mask(x.shape(), DType::f32, x.device());
    if (pass.first_sample > 0 && x.size() > 0)
      pass.random.seek(static_cast<uint64_t>(pass.first_sample * (x.size() / x.dim(0))));
    random_bernoulli(mask, pass.random, 1 - ratio_, 1 / (1 - ratio_));
    if (pass.keep) pass.saved = {mask};
    return product(x, mask, pass.may_overwrite);
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.wanted[0]) return;
    pass.grad_inputs[0] = pass.phase == Phase::test
                              ? pass.grad_output
                              : product(pass.grad_output, pass.saved[0], pass.may_overwrite);
  }

  bool is_view(Phase phase) const override { return phase == Phase::test; }

 private:
  static Tensor product(const Tensor& x, const Tensor& mask, bool may_overwrite) {
    if (!may_overwrite) return multiply(x, mask);
    Tensor y = x;
    elementwise_into(y, "x * mask", {{"x", x}, {"mask", mask}});
    return y;
  }
  float ratio_;
};

}  // namespace

std::unique_ptr<Layer> make_dropout(LayerParams& params) {
  return std::make_unique<Dropout>(params);
}

}  // namespace kaiseki::nn
