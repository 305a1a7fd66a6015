// SPDX-License-Identifier: MIT
// Mean of (x - target)^2 over all elements. A label is a one-hot row. A row with label -1 has loss
// 0.
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class MeanSquaredError : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.number("weight", weight_, {.low = 0, .high = 1e6});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    require(only_input(inputs).elements() > 0, "mean_squared_error",
            "expected an input with elements, got ", inputs[0]);
    return {.output = {}};
  }
  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    Tensor difference = pass.targets.dtype() == DType::i32 ? minus_one_hot(x, pass.targets)
                                                           : minus(x, pass.targets);
    if (pass.save_for_backward) pass.saved = {difference};
    return mean(elementwise("d * d", {{"d", difference}}));
  }
  void backward(BackwardPass& pass) const override {
    Tensor& difference = pass.saved[0];
    const float scale = 2 * pass.scale / static_cast<float>(difference.size());
    update("d = scale * d", {{"d", difference}, {"scale", scale}});
    pass.grad_inputs[0] = difference;
  }
  bool is_loss() const override { return true; }
  double loss_weight() const override { return weight_; }

 private:
  static Tensor minus(const Tensor& x, const Tensor& target) {
    require(target.shape() == x.shape(), "mean_squared_error", "expected targets of shape ",
            x.shape(), ", got ", target.shape());
    return x - target;
  }
  /// Returns the gradient of cross-entropy for probabilities x.
  static Tensor minus_one_hot(const Tensor& x, const Tensor& labels) {
    require(x.rank() == 2 && labels.shape() == Shape{x.dim(0)}, "mean_squared_error",
            "expected labels of shape [", x.dim(0), "] for an output of shape ", x.shape(),
            ", got ", labels.shape());
    return softmax_cross_entropy_backward(x, labels, 1);
  }
  double weight_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_mean_squared_error() { return std::make_unique<MeanSquaredError>(); }

}  // namespace kaiseki::nn
