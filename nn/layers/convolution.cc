// SPDX-License-Identifier: MIT
// Two-dimensional convolution. With "bias": "position" every position of the output has a bias of
// its own, as in Sukiyaki.
#include "matrix/ops/conv.h"
#include "matrix/ops/conv_pool.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"

namespace kaiseki::nn {
namespace {

enum class Bias : uint8_t { none, channel, position };

class Convolution : public Layer {
 public:
  explicit Convolution(LayerParams& params)
      : outputs_(params.integer("output_channels", std::nullopt)),
        kernel_(params.pair("kernel_size", std::nullopt, 1)),
        bias_(read_bias(params)),
        weight_init_(params.initializer("weight_initializer", {Initializer::Kind::he})),
        bias_init_(params.initializer("bias_initializer", {})) {
    conv_.stride = params.pair("stride", {{1, 1}}, 1);
    conv_.padding = params.pair("padding", {{0, 0}}, 0);
    conv_.dilation = params.pair("dilation", {{1, 1}}, 1);
    conv_.groups = params.integer("groups", 1);
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    const Shape& x = only_input(inputs, 3, "[channels, height, width]");
    require(x[0] % conv_.groups == 0 && outputs_ % conv_.groups == 0, "convolution",
            "expected channels that ", conv_.groups, " groups divide, got ", x[0], " and ",
            outputs_);
    const Shape filter = {outputs_, x[0] / conv_.groups, kernel_[0], kernel_[1]};
    const ConvProblem problem = conv_problem({1, x[0], x[1], x[2]}, filter, conv_);
    filter.elements();  // throws before a product of its dimensions overflows
    const int64_t window = filter[1] * kernel_[0] * kernel_[1];
    LayerShape shape{.output = {outputs_, problem.out_h(), problem.out_w()}};
    shape.parameters.push_back({"weight", filter, weight_init_, window,
                                outputs_ / conv_.groups * kernel_[0] * kernel_[1]});
    if (bias_ != Bias::none)
      shape.parameters.push_back({"bias", bias_ == Bias::position ? shape.output : Shape{outputs_},
                                  bias_init_, window, outputs_, false});
    shape.multiply_adds =
        Shape{filter[0], filter[1], filter[2], filter[3], problem.out_h(), problem.out_w()}
            .elements();
    shape.convolution = problem;
    return shape;
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor& x = pass.inputs[0];
    const Tensor& filter = pass.parameters[0].value;
    if (pass.pooling) return forward_pooled(pass);
    const ConvProblem problem = conv_problem(x.shape(), filter.shape(), conv_);
    Tensor y({problem.n, problem.k, problem.out_h(), problem.out_w()}, DType::f32, x.device());
    if (bias_ != Bias::position) {
      const Tensor* bias = bias_ == Bias::channel ? &pass.parameters[1].value : nullptr;
      conv2d(x, filter, bias, conv_, y, pass.activation.kind, pass.activation.slope);
      return y;
    }
    conv2d(x, filter, nullptr, conv_, y);
    elementwise_into(y, "y + b", {{"y", y}, {"b", pass.parameters[1].value}});
    apply_activation(pass.activation, y);
    return y;
  }

  void backward(BackwardPass& pass) const override {
    const Tensor& dy = pass.grad_output;
    Parameter& weight = pass.parameters[0];
    if (!pass.pooling)
      conv2d_backward_filter(pass.inputs[0], dy, conv_, weight.grad, weight.keep_grad());
    if (bias_ != Bias::none) {
      Parameter& bias = pass.parameters[1];
      const Axes axes = bias_ == Bias::channel ? Axes{0, 2, 3} : Axes{0};
      reduce_into(Reduction::sum, dy, axes, bias.grad, bias.keep_grad());
    }
    Tensor& dx = pass.grad_inputs[0];
    if (pass.pooling)
      return conv2d_max_pool_backward(pass.inputs[0], weight.value, std::move(pass.grad_output),
                                      std::move(pass.saved[0]), conv_, *pass.pooling, weight.grad,
                                      weight.keep_grad(), pass.wanted[0] ? &dx : nullptr);
    if (!pass.wanted[0]) return;
    dx = Tensor(pass.shapes[0], DType::f32, dy.device());
    conv2d_backward_data(dy, weight.value, conv_, dx);
  }

  Keeps keeps() const override { return {.input = true}; }
  bool fuses_activation() const override { return true; }
  bool fuses_pooling() const override { return bias_ != Bias::position; }
  bool writes_gradients() const override { return true; }

 private:
  Tensor forward_pooled(ForwardPass& pass) const {
    const Tensor &x = pass.inputs[0], &filter = pass.parameters[0].value;
    const Tensor* bias = bias_ == Bias::channel ? &pass.parameters[1].value : nullptr;
    Tensor y, indices;
    const bool relu = pass.activation.kind == Activation::relu;
    conv2d_max_pool(x, filter, bias, conv_, *pass.pooling, y, pass.keep ? &indices : nullptr,
                    relu ? Activation::relu : Activation::none);
    if (!relu) apply_activation(pass.activation, y);
    if (pass.keep) pass.saved = {indices};
    return y;
  }

  static Bias read_bias(LayerParams& params) {
    const std::string kind = params.switch_or("bias", {"channel", "position"});
    return kind == "false" ? Bias::none : kind == "position" ? Bias::position : Bias::channel;
  }

  int64_t outputs_;
  std::array<int64_t, 2> kernel_;
  Bias bias_;
  Initializer weight_init_, bias_init_;
  Conv2d conv_;
};

}  // namespace

std::unique_ptr<Layer> make_convolution(LayerParams& params) {
  return std::make_unique<Convolution>(params);
}

}  // namespace kaiseki::nn
