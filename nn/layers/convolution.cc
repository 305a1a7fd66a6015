// SPDX-License-Identifier: MIT
// Two-dimensional convolution. With "bias": "position" every position of the output has its own
// bias, as in Sukiyaki.
#include "matrix/ops/conv.h"
#include "matrix/ops/conv_pooling.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

enum class BiasKind : uint8_t { none, channel, position };

class Convolution : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.integer("output_channels", outputs_, {.required = true});
    settings.pair("kernel_size", kernel_, {.required = true});
    settings.pair("stride", conv_.stride);
    settings.pair("padding", conv_.padding, {.low = 0});
    settings.pair("end_padding", end_padding_,
                  {.low = 0, .default_of = "padding", .doc = "below and right of the input"});
    settings.pair("dilation", conv_.dilation);
    settings.integer("groups", conv_.groups);
    settings.switch_or("bias", bias_, {"channel", "position"},
                       {.doc = "one for each position of the output"});
    settings.initializer("weight_initializer", weight_init_);
    settings.initializer("bias_initializer", bias_init_);
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    const Shape& x = only_input(inputs, 3, "[channels, height, width]");
    conv_.end_padding = end_padding_;
    require(x[0] % conv_.groups == 0 && outputs_ % conv_.groups == 0, "convolution",
            "expected channels that ", conv_.groups, " groups divide, got ", x[0], " and ",
            outputs_);
    const Shape filter = {outputs_, x[0] / conv_.groups, kernel_[0], kernel_[1]};
    const ConvProblem problem = conv_problem({1, x[0], x[1], x[2]}, filter, conv_);
    filter.elements();  // throws if the product of its dimensions overflows
    const int64_t window = filter[1] * kernel_[0] * kernel_[1];
    LayerShape shape{.output = {outputs_, problem.out_h(), problem.out_w()}};
    shape.parameters.push_back({"weight", filter, weight_init_, window,
                                outputs_ / conv_.groups * kernel_[0] * kernel_[1]});
    if (bias_ != BiasKind::none)
      shape.parameters.push_back({"bias",
                                  bias_ == BiasKind::position ? shape.output : Shape{outputs_},
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
    if (bias_ != BiasKind::position) {
      const Tensor* bias = bias_ == BiasKind::channel ? &pass.parameters[1].value : nullptr;
      conv2d_into(y, x, filter, conv_, {bias, pass.activation.kind, pass.activation.slope});
      return y;
    }
    conv2d_into(y, x, filter, conv_);
    elementwise_into(y, "y + b", {{"y", y}, {"b", pass.parameters[1].value}});
    apply_activation(pass.activation, y);
    return y;
  }

  void backward(BackwardPass& pass) const override {
    const Tensor& dy = pass.grad_output;
    if (!pass.pooling)
      conv2d_backward_filter_into(pass.gradients[0], pass.inputs[0], dy, conv_, pass.beta[0]);
    if (bias_ != BiasKind::none) {
      const Axes axes = bias_ == BiasKind::channel ? Axes{0, 2, 3} : Axes{0};
      reduce_into(pass.gradients[1], Reduction::sum, dy, axes, pass.beta[1]);
    }
    Tensor& dx = pass.grad_inputs[0];
    if (pass.pooling)
      return conv2d_max_pool_backward({.x = pass.inputs[0],
                                       .filter = pass.parameters[0].value,
                                       .dy = std::move(pass.grad_output),
                                       .indices = std::move(pass.saved[0]),
                                       .conv = conv_,
                                       .pooling = *pass.pooling,
                                       .dfilter = pass.gradients[0],
                                       .beta = pass.beta[0],
                                       .dx = pass.needs_gradient[0] ? &dx : nullptr});
    if (!pass.needs_gradient[0]) return;
    dx = Tensor(pass.shapes[0], DType::f32, dy.device());
    conv2d_backward_data_into(dx, dy, pass.parameters[0].value, conv_);
  }

  BackwardReads backward_reads() const override { return {.input = true}; }
  bool fuses_activation() const override { return true; }
  bool fuses_pooling() const override { return bias_ != BiasKind::position; }
  bool writes_gradients() const override { return true; }

  void to_onnx(OnnxLayerWriter& onnx) const override {
    onnx.inputs.push_back(onnx.parameter("weight"));
    if (bias_ == BiasKind::channel) onnx.inputs.push_back(onnx.parameter("bias"));
    const std::string output = onnx.output;
    const bool positions = bias_ == BiasKind::position;
    if (positions) onnx.output = onnx.free_name(onnx.name + ".products");
    const auto &stride = conv_.stride, &begin = conv_.padding, &dilation = conv_.dilation;
    onnx.add(onnx.node("Conv")
                 .integers("dilations", {dilation[0], dilation[1]})
                 .integer("group", conv_.groups)
                 .integers("kernel_shape", {kernel_[0], kernel_[1]})
                 .integers("pads", {begin[0], begin[1], end_padding_[0], end_padding_[1]})
                 .integers("strides", {stride[0], stride[1]}));
    if (positions)
      onnx.add({"Add", onnx.name + ".bias", {onnx.output, onnx.parameter("bias")}, output});
  }

 private:
  Tensor forward_pooled(ForwardPass& pass) const {
    const Tensor &x = pass.inputs[0], &filter = pass.parameters[0].value;
    const Tensor* bias = bias_ == BiasKind::channel ? &pass.parameters[1].value : nullptr;
    Tensor y, indices;
    const bool relu = pass.activation.kind == Activation::relu;
    conv2d_max_pool({.x = x,
                     .filter = filter,
                     .bias = bias,
                     .conv = conv_,
                     .pooling = *pass.pooling,
                     .y = y,
                     .indices = pass.save_for_backward ? &indices : nullptr,
                     .activation = relu ? Activation::relu : Activation::none});
    if (!relu) apply_activation(pass.activation, y);
    if (pass.save_for_backward) pass.saved = {indices};
    return y;
  }

  int64_t outputs_ = 0;
  std::array<int64_t, 2> kernel_{};
  BiasKind bias_ = BiasKind::channel;
  Initializer weight_init_{Initializer::Kind::he}, bias_init_;
  Conv2d conv_;
  std::array<int64_t, 2> end_padding_{};
};

}  // namespace

std::unique_ptr<Layer> make_convolution() { return std::make_unique<Convolution>(); }

}  // namespace kaiseki::nn
