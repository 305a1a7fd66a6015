// SPDX-License-Identifier: MIT
// Mean of (x - target)^2 over all elements. Labels stand for their one-hot rows.
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

class MeanSquaredError : public Layer {
 public:
  explicit MeanSquaredError(LayerParams& params) : weight_(params.number("weight", 1, 0, 1e6)) {}

  LayerShape infer(std::span<const Shape> inputs) override {
    require(only_input(inputs).elements() > 0, "mean_squared_error",
            "expected an input with elements, got ", inputs[0]);
    return {.output = {}};
  }
  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    const Tensor target =
        pass.targets.dtype() == DType::i32 ? one_hot(pass.targets, x) : pass.targets;
    require(target.shape() == x.shape(), "mean_squared_error", "expected targets of shape ",
            x.shape(), ", got ", target.shape());
    Tensor difference = subtract(x, target);
    if (pass.keep) pass.saved = {difference};
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
  static Tensor one_hot(const Tensor& labels, const Tensor& like) {
    require(like.rank() == 2 && labels.shape() == Shape{like.dim(0)}, "mean_squared_error",
            "expected labels of shape [", like.dim(0), "] for an output of shape ", like.shape(),
            ", got ", labels.shape());
    const int64_t classes = like.dim(1);
    std::vector<float> identity(static_cast<size_t>(classes * classes));
    for (int64_t i = 0; i < classes; ++i) identity[static_cast<size_t>(i * classes + i)] = 1;
    return gather(Tensor::from(std::span<const float>(identity), {classes, classes}, like.device()),
                  labels);
  }
  double weight_;
};

}  // namespace

std::unique_ptr<Layer> make_mean_squared_error(LayerParams& params) {
  return std::make_unique<MeanSquaredError>(params);
}

}  // namespace kaiseki::nn
