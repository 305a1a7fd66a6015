// SPDX-License-Identifier: MIT
// Batch normalization per channel, or along another axis (Ioffe, Szegedy 2015). Training uses the
// statistics of the batch, the test phase the running statistics.
#include "matrix/has_devices.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/norm.h"
#include "matrix/ops/reduce.h"
#include "nn/layers/layers.h"
#include "nn/layers/shared_batch_norm.h"
#include "nn/onnx/layer_writer.h"

namespace kaiseki::nn {
namespace {

class BatchNormalization : public Layer {
 public:
  void settings(Settings& settings) override {
    settings.number("eps", eps_, {.low = 1e-12, .high = 1});
    settings.number("momentum", momentum_,
                    {.low = 0, .high = 1, .doc = "for the running statistics"});
    settings.integer("axis", axis_setting_,
                     {.low = 0, .high = Shape::kMaxRank - 2, .doc = "the channels"});
    axis_ = static_cast<int>(axis_setting_);
  }

  LayerShape infer(std::span<const Shape> inputs) override {
    const Shape& x = only_input(inputs);
    require(x.rank() > axis_ && x[axis_] > 0, "batch_normalization", "expected an input with axis ",
            axis_, ", got ", x);
    const Initializer one{Initializer::Kind::constant, 1};
    const Shape along{x[axis_]};
    LayerShape shape{.output = x};
    shape.parameters = {{"weight", along, one, 1, 1, false}, {"bias", along, {}, 1, 1, false}};
    shape.states = {{"running_mean", along, 0}, {"running_var", along, 1}};
    return shape;
  }

  Tensor forward(ForwardPass& pass) const override {
    const Tensor x = channels_second(pass.inputs[0]);
    const Tensor &gamma = pass.parameters[0].value, &beta = pass.parameters[1].value;
    Tensor &mean = pass.states[0].value, &variance = pass.states[1].value;
    const BatchNorm norm = with(pass.activation);
    Tensor y(x.shape(), DType::f32, x.device());
    const BatchNormForward call{.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm};
    if (pass.phase == Phase::test) {
      batch_norm_infer(call, mean, variance);
    } else {
      Tensor batch_mean(gamma.shape(), DType::f32, x.device());
      Tensor inv_std(gamma.shape(), DType::f32, x.device());
      const BatchNormStatistics statistics{
          .running_mean = mean, .running_var = variance, .mean = batch_mean, .inv_std = inv_std};
      if (kHasDevices && pass.sum)
        shared_batch_norm_train(call, statistics, *pass.sum);
      else
        batch_norm_train(call, statistics);
      if (pass.save_for_backward) pass.saved = {batch_mean, inv_std};
    }
    if (!norm.relu) apply_activation(pass.activation, y);
    return y.reshape(pass.inputs[0].shape());
  }

  bool recomputes_output() const override { return true; }
  Tensor recompute(const RecomputePass& pass) const override {
    const Tensor x = channels_second(pass.input);
    const Tensor &gamma = pass.parameters[0].value, &beta = pass.parameters[1].value;
    const BatchNorm norm = with(pass.activation);
    Tensor y(x.shape(), DType::f32, x.device());
    const BatchNormForward call{.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm};
    if (pass.phase == Phase::test)
      batch_norm_infer(call, pass.states[0].value, pass.states[1].value);
    else
      batch_norm_apply(call, pass.saved[0], pass.saved[1]);
    if (!norm.relu) apply_activation(pass.activation, y);
    return y.reshape(pass.input.shape());
  }

  void backward(BackwardPass& pass) const override {
    if (pass.phase == Phase::test) return backward_of_constants(pass);
    const Tensor x = channels_second(pass.inputs[0]), dy = channels_second(pass.grad_output);
    Tensor dx(x.shape(), DType::f32, x.device());
    const BatchNormBackward call{.x = x,
                                 .dy = dy,
                                 .gamma = pass.parameters[0].value,
                                 .mean = pass.saved[0],
                                 .inv_std = pass.saved[1],
                                 .dx = dx,
                                 .dgamma = pass.gradients[0],
                                 .dbeta = pass.gradients[1]};
    if (kHasDevices && pass.sum)
      shared_batch_norm_backward(call, *pass.sum);
    else
      batch_norm_backward(call);
    if (pass.needs_gradient[0]) pass.grad_inputs[0] = dx.reshape(pass.shapes[0]);
  }

  void to_onnx(OnnxLayerWriter& onnx) const override {
    const std::string output = onnx.output;
    if (axis_ != 0) {  // ONNX normalizes the channels only
      onnx.output = onnx.free_name(onnx.name + ".moved");
      add_exchange(onnx, onnx.inputs[0], onnx.output);
      onnx.inputs = {onnx.output};
      onnx.output = onnx.free_name(onnx.name + ".normalized");
    }
    for (const char* name : {"weight", "bias", "running_mean", "running_var"})
      onnx.inputs.push_back(onnx.parameter(name));
    onnx.add(
        onnx.node("BatchNormalization").number("epsilon", eps_).number("momentum", 1 - momentum_));
    if (axis_ != 0) add_exchange(onnx, onnx.output, output);
  }

  BackwardReads backward_reads() const override { return {.input = true}; }
  bool couples_samples(Phase phase) const override { return phase == Phase::train; }
  bool fuses_activation() const override { return true; }

 private:
  /// Adds a Transpose that exchanges the channels and the axis.
  void add_exchange(OnnxLayerWriter& onnx, const std::string& from, const std::string& to) const {
    std::vector<int64_t> axes;
    for (int axis = 0; axis <= onnx.input_shape.rank(); ++axis) axes.push_back(axis);
    std::swap(axes[1], axes[static_cast<size_t>(axis_) + 1]);
    onnx.add(OnnxNode("Transpose", to, {from}, to).integers("perm", axes));
  }

  BatchNorm with(const FusedActivation& activation) const {
    BatchNorm norm;
    norm.eps = static_cast<float>(eps_);
    norm.momentum = static_cast<float>(momentum_);
    norm.relu = activation.kind == Activation::relu;
    return norm;
  }

  /// A view in which the channels are the second dimension.
  Tensor channels_second(const Tensor& x) const {
    if (axis_ == 0) return x;
    int64_t before = 1, after = 1;
    for (int axis = 0; axis <= axis_; ++axis) before *= x.dim(axis);
    for (int axis = axis_ + 2; axis < x.rank(); ++axis) after *= x.dim(axis);
    return x.reshape({before, x.dim(axis_ + 1), after});
  }

  /// The backward pass of the test phase, in which the statistics do not depend on the input.
  void backward_of_constants(BackwardPass& pass) const {
    Shape per_channel = pass.shapes[0];
    Axes others;
    for (int axis = 0; axis < per_channel.rank(); ++axis) {
      if (axis == axis_ + 1) continue;
      per_channel[axis] = 1;
      others.push_back(axis);
    }
    const Tensor mean = pass.states[0].value.reshape(per_channel);
    const Tensor variance = pass.states[1].value.reshape(per_channel);
    const Tensor& dy = pass.grad_output;
    const Tensor weighted =
        elementwise("g * (x - m) * rsqrt(v + eps)", {{"g", dy},
                                                     {"x", pass.inputs[0]},
                                                     {"m", mean},
                                                     {"v", variance},
                                                     {"eps", static_cast<float>(eps_)}});
    reduce_into(pass.gradients[0], Reduction::sum, weighted, others, 1);
    reduce_into(pass.gradients[1], Reduction::sum, dy, others, 1);
    if (pass.needs_gradient[0])
      pass.grad_inputs[0] = elementwise("g * w * rsqrt(v + eps)",
                                        {{"g", dy},
                                         {"w", pass.parameters[0].value.reshape(per_channel)},
                                         {"v", variance},
                                         {"eps", static_cast<float>(eps_)}});
  }

  double eps_ = 1e-5, momentum_ = 0.1;
  int64_t axis_setting_ = 0;
  int axis_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_batch_normalization() { return std::make_unique<BatchNormalization>(); }

}  // namespace kaiseki::nn
