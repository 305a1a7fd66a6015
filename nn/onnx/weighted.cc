// SPDX-License-Identifier: MIT
// Imports operators with constants that become the weights of a layer.
#include <utility>

#include "nn/onnx/operators.h"
#include "nn/onnx/windows.h"
#include "nn/registry.h"

namespace kaiseki::nn::onnx {
namespace {

/// Returns "conv1" for weights "conv1.weight" in input 1. Otherwise returns "", and the layer gets
/// the name of the node. The input's name has priority. For equal weights PyTorch writes one
/// initializer, and an Identity for each other name.
std::string name_from(const OnnxOp& op) {
  constexpr std::string_view kEnd = ".weight";
  const TensorData& weight = op.constant(1);
  for (const std::string& name : {op.input_name(1), weight.name})
    if (name.ends_with(kEnd)) return name.substr(0, name.size() - kEnd.size());
  return "";
}

InlineWeights weights(OnnxOp& op, const char* parameter, const TensorData& tensor,
                      float factor = 1) {
  InlineWeights result{.parameter = parameter, .path = op.place(), .values = op.values(tensor)};
  if (factor != 1)
    for (float& value : result.values) value *= factor;
  return result;
}

/// Transposes [inputs, outputs] to [outputs, inputs].
void transpose(std::vector<float>& values, size_t inputs, size_t outputs) {
  std::vector<float> turned(values.size());
  for (size_t i = 0; i < inputs; ++i)
    for (size_t o = 0; o < outputs; ++o) turned[o * inputs + i] = values[i * outputs + o];
  values = std::move(turned);
}

NewLayer fully_connected(OnnxOp& op, const OnnxValue& x, bool transposed, float factor) {
  const int64_t inputs = x.shape[0];
  const TensorData& weight = op.constant(
      1, transposed ? std::vector<int64_t>{-1, inputs} : std::vector<int64_t>{inputs, -1});
  const int64_t outputs = weight.dims[transposed ? 0 : 1];
  if (outputs < 1) op.fail("expected weights of one output or more, got " + list_text(weight.dims));
  NewLayer layer{.type = "fully_connected", .name = name_from(op)};
  layer.params.set("output_size", outputs);
  layer.weights.push_back(weights(op, "weight", weight, factor));
  if (!transposed)
    transpose(layer.weights[0].values, static_cast<size_t>(inputs), static_cast<size_t>(outputs));
  return layer;
}

/// Returns a bias of `outputs` values. The constant may have one element, or leading dimensions of
/// size 1.
InlineWeights bias_of(OnnxOp& op, const TensorData& tensor, int64_t outputs, float factor) {
  const int64_t count = tensor.elements();
  const bool row = !tensor.dims.empty() && tensor.dims.back() == count;
  if (count != 1 && !(row && count == outputs))
    op.fail("expected a bias of " + std::to_string(outputs) + " values, got the shape " +
            list_text(tensor.dims));
  InlineWeights bias = weights(op, "bias", tensor, factor);
  bias.values.resize(static_cast<size_t>(outputs), bias.values[0]);
  return bias;
}

/// x + constant becomes the bias of the layer that computes x, if that layer has no bias.
void add_bias(OnnxOp& op, const OnnxValue& x, const TensorData& tensor) {
  LayerSpec* layer = op.without_bias(x);
  if (!layer)
    op.fail(
        "expected a constant added to a Conv, Gemm or MatMul without a bias or another consumer, "
        "got a constant added to \"" +
        x.layer + "\"");
  std::vector<int64_t> dims = tensor.dims;
  while (static_cast<int>(dims.size()) > x.shape.rank() && dims[0] == 1) dims.erase(dims.begin());
  const std::vector<int64_t> whole(x.shape.begin(), x.shape.end());
  std::vector<int64_t> channel(whole.size(), 1);
  channel[0] = whole[0];
  if (dims != whole && dims != channel)
    op.fail("expected a bias of shape " + list_text(channel) + " or " + list_text(whole) +
            ", got " + list_text(tensor.dims));
  layer->weights.push_back(weights(op, "bias", tensor));
  layer->params.set("bias", dims == channel ? Json(true) : Json("position"));
  remove_defaults(layer->params, settings_of(*make_layer(layer->type)));
  op.set(x);
}

}  // namespace

void import_conv(OnnxOp& op) {
  OnnxValue x = op.input(0);
  const std::vector<int64_t> pads = std::exchange(x.pads, {});
  if (x.is_constant() || x.gain || x.shape.rank() != 3) op.data(0, 3);
  const TensorData& weight = op.constant(1, {-1, -1, -1, -1});
  const std::array<int64_t, 2> kernel = {weight.dims[2], weight.dims[3]};
  if (!pads.empty()) expect_no_automatic_padding(op);
  OnnxWindow window = read_window(op, x.shape, kernel);
  if (window.kernel != kernel)
    op.fail_attribute("kernel_shape", "that of the weights " + list_text(weight.dims),
                      list_text({window.kernel[0], window.kernel[1]}));
  for (int i = 0; i < 2 && !pads.empty(); ++i)
    window.begin[i] += pads[i], window.end[i] += pads[i + 2];
  const int64_t groups = op.integer("group", 1);
  if (groups < 1 || x.shape[0] % groups != 0 || weight.dims[1] != x.shape[0] / groups)
    op.fail("expected weights for " + std::to_string(x.shape[0]) + " channels in " +
            std::to_string(groups) + " groups, got the shape " + list_text(weight.dims));

  NewLayer layer{.type = "convolution", .name = name_from(op)};
  layer.params.set("output_channels", weight.dims[0])
      .set("kernel_size", pair_json(kernel))
      .set("stride", pair_json(window.stride))
      .set("padding", pair_json(window.begin))
      .set("end_padding", pair_json(window.end))
      .set("dilation", pair_json(window.dilation))
      .set("groups", groups)
      .set("bias", op.has_input(2));
  layer.weights.push_back(weights(op, "weight", weight));
  if (op.has_input(2))
    layer.weights.push_back(weights(op, "bias", op.constant(2, {weight.dims[0]})));
  op.add(std::move(layer), {&x});
}

void import_gemm(OnnxOp& op) {
  const OnnxValue& x = op.data(0, 1);
  op.only("transA", 0);
  const auto alpha = static_cast<float>(op.number("alpha", 1));
  const auto beta = static_cast<float>(op.number("beta", 1));
  NewLayer layer = fully_connected(op, x, op.integer("transB", 0) != 0, alpha);
  layer.params.set("bias", op.has_input(2));
  if (op.has_input(2)) {
    const auto outputs = static_cast<int64_t>(layer.params.find("output_size")->number);
    layer.weights.push_back(bias_of(op, op.constant(2), outputs, beta));
  }
  op.add(std::move(layer));
}

void import_matmul(OnnxOp& op) {
  NewLayer layer = fully_connected(op, op.data(0, 1), false, 1);
  layer.params.set("bias", false);
  op.add(std::move(layer));
}

void import_batch_normalization(OnnxOp& op) {
  OnnxValue x = op.input(0);
  const int axis = std::exchange(x.moved_axis, 0);
  if (axis == 0) op.data(0);
  x.pending.clear();
  if (op.opset() < 9) op.only("spatial", 1);
  if (op.opset() >= 14) op.only("training_mode", 0);
  const double eps = op.number("epsilon", 1e-5), kept = op.number("momentum", 0.9);
  NewLayer layer{.type = "batch_normalization", .name = name_from(op)};
  layer.params.set("eps", eps)
      .set("momentum", shortest(static_cast<float>(1 - kept)))
      .set("axis", axis);
  constexpr const char* kNames[] = {"weight", "bias", "running_mean", "running_var"};
  for (size_t i = 0; i < 4; ++i)
    layer.weights.push_back(weights(op, kNames[i], op.constant(i + 1, {x.shape[axis]})));
  OnnxValue y = op.make(std::move(layer), {&x});
  if (axis != 0) y.moved_axis = axis, y.pending = op.place();
  op.set(std::move(y));
}

void import_add(OnnxOp& op) {
  if (op.inputs() == 2 && (op.input(0).is_constant() || op.input(1).is_constant())) {
    const size_t constant = op.input(0).is_constant() ? 0 : 1;
    return add_bias(op, op.data(1 - constant), op.constant(constant));
  }
  if (op.inputs() == 1) return op.set(op.data(0));
  std::vector<const OnnxValue*> inputs;
  for (size_t i = 0; i < op.inputs(); ++i) inputs.push_back(&op.data(i));
  op.add({.type = "add"}, inputs);
}

}  // namespace kaiseki::nn::onnx
