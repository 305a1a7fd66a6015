// SPDX-License-Identifier: MIT
// Imports operators that become one layer without weights. This file also has the list of all
// operators.
#include "nn/onnx/operators.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace kaiseki::nn::onnx {
namespace {

void import_activation(OnnxOp& op) {
  static const std::map<std::string, std::string> kLayers = {{"Relu", "relu"}, {"Tanh", "tanh"}};
  op.add({.type = kLayers.at(op.type())});
}

void import_leaky_relu(OnnxOp& op) {
  NewLayer layer{.type = "leaky_relu"};
  layer.params.set("slope", op.number("alpha", 0.01));
  op.add(std::move(layer));
}

void import_sigmoid(OnnxOp& op) {
  OnnxValue x = op.input(0);
  NewLayer layer{.type = "sigmoid"};
  if (x.is_constant() || !x.pads.empty()) op.data(0);
  if (x.gain) layer.params.set("gain", shortest(*x.gain));
  op.add(std::move(layer), {&x});
}

/// A Mul by a constant before a Sigmoid becomes the gain of the sigmoid.
void import_mul(OnnxOp& op) {
  const size_t factor = op.input(0).is_constant() ? 0 : 1;
  const TensorData& tensor = op.constant(factor);
  if (tensor.elements() != 1)
    op.fail("expected a factor of one element, got " + list_text(tensor.dims));
  OnnxValue value = op.data(1 - factor);
  value.gain = op.values(tensor)[0];
  value.pending = op.place();
  op.set(std::move(value));
}

/// Accepts Relu only: the lower bound is 0, and there is no upper bound.
void import_clip(OnnxOp& op) {
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

void import_dropout(OnnxOp& op) {
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
    if (!off) op.fail("input 2 (training_mode): expected the constant false");
  }
  NewLayer layer{.type = "dropout"};
  layer.params.set("ratio", ratio);
  op.add(std::move(layer));
}

void import_identity(OnnxOp& op) { op.set(op.input(0)); }

/// Exchanges the channels and another axis, before a BatchNormalization along this axis, and back.
void import_transpose(OnnxOp& op) {
  OnnxValue x = op.input(0);
  if (x.moved_axis == 0) op.data(0);
  std::vector<int64_t> wanted(static_cast<size_t>(x.shape.rank()) + 1);
  std::iota(wanted.begin(), wanted.end(), 0);
  const std::vector<int64_t> perm =
      op.integers("perm", std::vector<int64_t>(wanted.rbegin(), wanted.rend()));
  if (perm == wanted) return op.set(std::move(x));
  const auto axis = perm.size() > 2 ? static_cast<int>(perm[1]) - 1 : 0;
  if (axis > 0 && axis < x.shape.rank())
    std::swap(wanted[1], wanted[static_cast<size_t>(axis) + 1]);
  if (perm != wanted || (x.moved_axis != 0 && x.moved_axis != axis))
    op.fail_attribute("perm", "an exchange of the channels and one other axis, and back",
                      list_text(perm));
  x.pending = x.moved_axis ? "" : op.place();
  x.moved_axis = x.moved_axis ? 0 : axis;
  op.set(std::move(x));
}

void import_global_pool(OnnxOp& op) {
  NewLayer layer{.type = "global_pooling"};
  if (op.type() == "GlobalMaxPool") layer.params.set("kind", "max");
  op.add(std::move(layer), {&op.data(0, 3)});
}

/// Accepts the mean over height and width only.
void import_reduce_mean(OnnxOp& op) {
  std::vector<int64_t> axes = op.integers("axes", {});
  const OnnxValue& x = op.data(0, 3);
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  if (axes != std::vector<int64_t>{2, 3})
    op.fail_attribute("axes", "[2, 3], the plane of a channel", list_text(axes));
  NewLayer layer{.type = "global_pooling"};
  if (op.integer("keepdims", 1) != 0) return op.add(std::move(layer), {&x});
  const OnnxValue mean = op.make(std::move(layer), {&x});
  op.add({.type = "flatten"}, {&mean});
}

void import_lrn(OnnxOp& op) {
  NewLayer layer{.type = "local_response_normalization"};
  const int64_t size = op.integer("size", std::nullopt);
  // ONNX's window of an even size begins one channel later than ours.
  if (size % 2 == 0) op.fail_attribute("size", "an odd number", std::to_string(size));
  layer.params.set("size", size)
      .set("alpha", op.number("alpha", 1e-4))
      .set("beta", op.number("beta", 0.75))
      .set("k", op.number("bias", 1));
  op.add(std::move(layer));
}

void import_softmax(OnnxOp& op) {
  const OnnxValue& x = op.data(0);
  const int64_t rank = x.shape.rank() + 1;
  const int64_t axis = op.integer("axis", op.opset() < 13 ? 1 : -1);
  if (axis != 1 && axis != 1 - rank)
    op.fail_attribute("axis",
                      "1, the channels or classes, of " + std::to_string(rank) + " dimensions",
                      std::to_string(axis));
  // Before operator set 13, Softmax normalizes over all dimensions from the axis on.
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
      {"Transpose", import_transpose},
      {"Unsqueeze", import_unsqueeze},
  };
  return all;
}

}  // namespace

Operator find_operator(std::string_view type) {
  const auto at = operators().find(type);
  return at == operators().end() ? nullptr : at->second;
}

}  // namespace kaiseki::nn::onnx
