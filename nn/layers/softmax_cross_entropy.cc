// SPDX-License-Identifier: MIT
// Softmax cross-entropy: the mean over the batch of -log softmax(x)[label]. saved[0] has the
// probabilities.
#include "matrix/ops/reduce.h"
#include "matrix/ops/softmax.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class SoftmaxCrossEntropy : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.number("weight", weight_, {.low = 0, .high = 1e6});
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    const int64_t classes = only_input(inputs).elements();
    require(classes > 0 && classes == inputs[0][0], "softmax_cross_entropy",
            "expected an input of shape [classes], got ", inputs[0]);
    return {.output = {}};
  }
  Tensor forward(ForwardPass& pass) const override {
    CrossEntropy result = softmax_cross_entropy(as_rows(pass.inputs[0]), pass.targets);
    pass.saved = {result.probabilities, pass.targets};
    return mean(result.losses);
  }
  void backward(BackwardPass& pass) const override {
    const Shape& shape = pass.shapes[0];
    pass.grad_inputs[0] = softmax_cross_entropy_backward(pass.saved[0], pass.saved[1],
                                                         pass.scale / static_cast<float>(shape[0]))
                              .reshape(shape);
  }
  bool is_loss() const override { return true; }
  double loss_weight() const override { return weight_; }

 private:
  double weight_ = 1;
};

}  // namespace

std::unique_ptr<Layer> make_softmax_cross_entropy() {
  return std::make_unique<SoftmaxCrossEntropy>();
}

}  // namespace kaiseki::nn
