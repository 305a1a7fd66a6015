// SPDX-License-Identifier: MIT
// Operators that become one layer without weights, and the list of all.
#include "nn/onnx/operators.h"

#include <algorithm>
#include <limits>
#include <map>

namespace kaiseki::nn::onnx {
namespace {

void import_activation(Op& op) {
  static const std::map<std::string, std::string> kLayers = {{"Relu", "relu"}, {"Tanh", "tanh"}};
  op.add({.type = kLayers.at(op.type())});
}

void import_leaky_relu(Op& op) {
  NewLayer layer{.type = "leaky_relu"};
  if (const double slope = op.number("alpha", 0.01); slope != 0.01)
    layer.params.set("slope", slope);
  op.add(std::move(layer));
}

void import_sigmoid(Op& op) {
  Value x = op.input(0);
  NewLayer layer{.type = "sigmoid"};
  if (x.gain && *x.gain != 1) layer.params.set("gain", shortest(*x.gain));
  x.gain.reset();
  if (x.is_constant() || !x.pads.empty()) op.data(0);
  op.add(std::move(layer), {&x});
}

/// A factor in front of a sigmoid is its gain.
void import_mul(Op& op) {
  const size_t factor = op.input(0).is_constant() ? 0 : 1;
  const TensorData& tensor = op.constant(factor);
  if (tensor.elements() != 1)
    op.fail("expected a factor of one element, got " + list_text(tensor.dims));
  Value value = op.data(1 - factor);
  value.gain = op.values(tensor)[0];
  op.set(std::move(value));
}

/// Only what is Relu: no upper bound, and 0 as the lower one.
void import_clip(Op& op) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  double low = op.opset() < 11 ? op.number("min", -kLargest) : -kLargest;
  double high = op.opset() < 11 ? op.number("max", kLargest) : kLargest;
  for (size_t i = 1; i <= 2; ++i) {
    if (!op.has_input(i)) continue;
    const TensorData& bound = op.constant(i);
    if (bound.elements() != 1)
      op.fail("expected bounds of one element, got " + list_text(bound.dims));
    (i == 1 ? low : high) = op.values(bound)[0];
  }
  if (low != 0 || high < kLargest)
    op.fail("expected bounds that make it Relu (0 and none), got " + std::to_string(low) + " and " +
            std::to_string(high));
  op.add({.type = "relu"});
}

void import_dropout(Op& op) {
  double ratio = op.opset() < 12 ? op.number("ratio", 0.5) : 0.5;
  if (op.opset() >= 12) op.integer("seed", 0);
  if (op.has_input(1)) {
    const TensorData& given = op.constant(1);
    if (given.elements() != 1)
      op.fail("expected a ratio of one element, got " + list_text(given.dims));
    ratio = shortest(op.values(given)[0]);
  }
  if (op.has_input(2)) {
    const TensorData* training = op.input(2).tensor;
    const bool off = training && training->int_data.size() <= 1 && training->raw.size() <= 1 &&
                     (training->raw.empty() || training->raw[0] == std::byte{0}) &&
                     (training->int_data.empty() || training->int_data[0] == 0);
    if (!off) op.fail("input 2: expected training_mode to be the constant false, got another");
  }
  NewLayer layer{.type = "dropout"};
  if (ratio != 0.5) layer.params.set("ratio", ratio);
  op.add(std::move(layer));
}

void import_identity(Op& op) { op.set(op.input(0)); }

void import_global_pool(Op& op) {
  NewLayer layer{.type = "global_pooling"};
  if (op.type() == "GlobalMaxPool") layer.params.set("kind", "max");
  op.add(std::move(layer), {&op.data(0, 3)});
}

/// The mean of each channel's plane.
void import_reduce_mean(Op& op) {
  std::vector<int64_t> axes = op.integers("axes", {});
  const Value& x = op.data(0, 3);
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != std::vector<int64_t>{2, 3})
    op.fail_attribute("axes", "[2, 3], the plane of a channel", list_text(axes));
  NewLayer layer{.type = "global_pooling"};
  if (op.integer("keepdims", 1) != 0) return op.add(std::move(layer), {&x});
  const Value mean = op.make(std::move(layer), {&x});
  op.add({.type = "flatten"}, {&mean});
}

void import_lrn(Op& op) {
  NewLayer layer{.type = "local_response_normalization"};
  const int64_t size = op.integer("size", std::nullopt);
  // An even window begins one channel later there than here.
  if (size % 2 == 0) op.fail_attribute("size", "an odd number", std::to_string(size));
  const double alpha = op.number("alpha", 1e-4), beta = op.number("beta", 0.75);
  const double k = op.number("bias", 1);
  if (size != 5) layer.params.set("size", size);
  if (alpha != 1e-4) layer.params.set("alpha", alpha);
  if (beta != 0.75) layer.params.set("beta", beta);
  if (k != 1) layer.params.set("k", k);
  op.add(std::move(layer));
}

void import_softmax(Op& op) {
  const Value& x = op.data(0);
  const int64_t rank = x.shape.rank() + 1;
  const int64_t axis = op.integer("axis", op.opset() < 13 ? 1 : -1);
  if (axis != 1 && axis != 1 - rank)
    op.fail_attribute("axis",
                      "1, the channels or classes, of " + std::to_string(rank) + " dimensions",
                      std::to_string(axis));
  // Before operator set 13 all dimensions from the axis on are taken as one.
  if (op.opset() < 13 && x.shape.elements() != x.shape[0])
    op.fail("expected an input of shape [batch, classes] in operator set " +
            std::to_string(op.opset()) + ", got a sample of shape " + x.shape.str());
  op.add({.type = "softmax"});
}

const std::map<std::string, Operator, std::less<>>& operators() {
  static const std::map<std::string, Operator, std::less<>> all = {
      {"Add", import_add},
      {"AveragePool", import_average_pool},
      {"BatchNormalization", import_batch_normalization},
      {"Cast", import_cast},
      {"Clip", import_clip},
      {"Concat", import_concat},
      {"Constant", import_constant},
      {"Conv", import_conv},
      {"Dropout", import_dropout},
      {"Flatten", import_flatten},
      {"Gather", import_gather},
      {"Gemm", import_gemm},
      {"GlobalAveragePool", import_global_pool},
      {"GlobalMaxPool", import_global_pool},
      {"Identity", import_identity},
      {"LRN", import_lrn},
      {"LeakyRelu", import_leaky_relu},
      {"MatMul", import_matmul},
      {"MaxPool", import_max_pool},
      {"Mul", import_mul},
      {"Pad", import_pad},
      {"ReduceMean", import_reduce_mean},
      {"Relu", import_activation},
      {"Reshape", import_reshape},
      {"Shape", import_shape},
      {"Sigmoid", import_sigmoid},
      {"Softmax", import_softmax},
      {"Squeeze", import_squeeze},
      {"Sum", import_add},
      {"Tanh", import_activation},
      {"Unsqueeze", import_unsqueeze},
  };
  return all;
}

}  // namespace

Operator find_operator(std::string_view type) {
  const auto at = operators().find(type);
  return at == operators().end() ? nullptr : at->second;
}

std::vector<std::string> operator_types() {
  std::vector<std::string> types;
  for (const auto& [type, import] : operators()) types.push_back(type);
  return types;
}

}  // namespace kaiseki::nn::onnx
