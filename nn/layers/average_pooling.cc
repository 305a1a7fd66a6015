// SPDX-License-Identifier: MIT
// Mean over windows of each channel.
#include "matrix/ops/pool.h"
#include "nn/layers/layers.h"
#include "nn/layers/pooling.h"

namespace kaiseki::nn {
namespace {

class AveragePooling : public Layer {
 public:
  explicit AveragePooling(LayerParams& params) : pool_(read_pool(params)) {
    pool_.count_padding = params.boolean("count_padding", false);
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    return {.output = pooled_shape(inputs, pool_)};
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    Tensor y(pool2d_shape(x.shape(), pool_), DType::f32, x.device());
    average_pool2d(x, pool_, y);
    return y;
  }

  void backward(BackwardPass& pass) const override {
    if (!pass.wanted[0]) return;
    pass.grad_inputs[0] = Tensor(pass.shapes[0], DType::f32, pass.grad_output.device());
    average_pool2d_backward(pass.grad_output, pool_, pass.grad_inputs[0]);
  }

 private:
  Pool2d pool_;
};

}  // namespace

std::unique_ptr<Layer> make_average_pooling(LayerParams& params) {
  return std::make_unique<AveragePooling>(params);
}

}  // namespace kaiseki::nn
