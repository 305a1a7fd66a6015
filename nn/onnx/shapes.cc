// SPDX-License-Identifier: MIT
// Imports operators that change shapes, and operators that compute shapes.
#include <algorithm>

#include "nn/onnx/operators.h"

namespace kaiseki::nn::onnx {
namespace {

constexpr size_t kMaxIntegers = 64;

/// Returns the axes, converted to 0..rank-1.
std::vector<int64_t> axes_of(OnnxOp& op, int64_t rank) {
  std::vector<int64_t> axes = op.opset() < 13   ? op.integers("axes", {})
                              : op.has_input(1) ? op.constant_integers(1)
                                                : std::vector<int64_t>();
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      op.fail_attribute("axes",
                        "numbers from " + std::to_string(-rank) + " to " + std::to_string(rank - 1),
                        list_text(axes));
    axis += axis < 0 ? rank : 0;
  }
  return axes;
}

/// Returns a sample's shape after Reshape. Throws unless the batch stays the first dimension.
std::vector<int64_t> reshaped(OnnxOp& op, const Shape& from, const std::vector<int64_t>& to) {
  const auto refuse = [&](const std::string& expected) {
    op.fail("expected a shape " + expected + ", got " + list_text(to) + " for a sample of shape " +
            from.str());
  };
  const bool batch = !to.empty() && (to[0] == kBatch || to[0] == 0 || to[0] == -1 ||
                                     (op.batch() && to[0] == *op.batch()));
  if (!batch) refuse("with the batch as the first dimension");
  std::vector<int64_t> sample;
  int open = to[0] == -1 ? 1 : 0;
  double product = 1;
  for (size_t i = 1; i < to.size(); ++i) {
    int64_t dim = to[i];
    if (dim == 0 && static_cast<int>(i) <= from.rank()) dim = from[static_cast<int>(i) - 1];
    if (dim == -1 ? ++open > 1 : dim < 1) refuse("with one open dimension at most");
    if (dim > 0) product *= static_cast<double>(dim);
    sample.push_back(dim);
  }
  const auto elements = static_cast<double>(from.elements());
  for (int64_t& dim : sample) {
    if (dim != -1) continue;
    dim = static_cast<int64_t>(elements / product);
    product *= static_cast<double>(dim);
  }
  if (product != elements)
    refuse("of " + std::to_string(from.elements()) + " elements in a sample");
  return sample;
}

/// Imports a reshape. The new shape must be the old shape, or one dimension.
void reshape_to(OnnxOp& op, const OnnxValue& x, const std::vector<int64_t>& sample) {
  if (std::equal(sample.begin(), sample.end(), x.shape.begin(), x.shape.end())) return op.set(x);
  if (sample.size() != 1)
    op.fail("expected a sample that stays or becomes one dimension, got " + list_text(sample) +
            " from " + x.shape.str());
  op.add({.type = "flatten"}, {&x});
}

OnnxValue integers_value(std::vector<int64_t> integers) {
  OnnxValue value;
  value.integers = std::move(integers);
  return value;
}

}  // namespace

void import_constant(OnnxOp& op) {
  const TensorData* tensor = op.tensor("value");
  if (!tensor) op.fail_attribute("value", "a tensor", "nothing");
  OnnxValue value;
  value.tensor = tensor;
  op.set(std::move(value));
}

/// Accepts shapes only, from one type of integers to another.
void import_cast(OnnxOp& op) {
  const int64_t to = op.integer("to", std::nullopt);
  if (to != static_cast<int64_t>(ElementType::int64) &&
      to != static_cast<int64_t>(ElementType::int32))
    op.fail_attribute("to", "int64 or int32", element_type_name(to));
  op.set(integers_value(op.constant_integers(0)));
}

void import_shape(OnnxOp& op) {
  const Shape& shape = op.data(0).shape;
  std::vector<int64_t> dims = {kBatch};
  dims.insert(dims.end(), shape.begin(), shape.end());
  op.set(integers_value(std::move(dims)));
}

void import_gather(OnnxOp& op) {
  op.only("axis", 0);
  const std::vector<int64_t> from = op.constant_integers(0), at = op.constant_integers(1);
  const auto size = static_cast<int64_t>(from.size());
  std::vector<int64_t> chosen;
  for (int64_t i : at) {
    if (i < -size || i >= size)
      op.fail("expected indices below " + std::to_string(size) + ", got " + list_text(at));
    chosen.push_back(from[static_cast<size_t>(i < 0 ? i + size : i)]);
  }
  op.set(integers_value(std::move(chosen)));
}

/// Accepts one number of a shape only, because no layer adds a dimension to a tensor.
void import_unsqueeze(OnnxOp& op) {
  const std::vector<int64_t> one = op.constant_integers(0);
  if (one.size() != 1 || axes_of(op, 1) != std::vector<int64_t>{0})
    op.fail("expected one number of a shape, got " + list_text(one));
  op.set(integers_value(one));
}

void import_squeeze(OnnxOp& op) {
  if (op.input(0).is_constant()) {
    const std::vector<int64_t> one = op.constant_integers(0);
    axes_of(op, 1);
    if (one.size() != 1) op.fail("expected one number of a shape, got " + list_text(one));
    return op.set(integers_value(one));
  }
  const OnnxValue& x = op.data(0);
  const std::vector<int64_t> axes = axes_of(op, x.shape.rank() + 1);
  std::vector<int64_t> sample;
  for (int i = 0; i < x.shape.rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i + 1) == axes.end())
      sample.push_back(x.shape[i]);
    else if (x.shape[i] != 1)
      op.fail_attribute("axes", "dimensions of 1 element",
                        list_text(axes) + " of " + x.shape.str());
  if (axes.empty() || std::find(axes.begin(), axes.end(), 0) != axes.end())
    op.fail_attribute("axes", "dimensions behind the batch", list_text(axes));
  reshape_to(op, x, sample);
}

void import_flatten(OnnxOp& op) {
  const OnnxValue& x = op.data(0);
  const int64_t axis = op.integer("axis", 1);
  if (axis != 1 && axis != -x.shape.rank())
    op.fail_attribute("axis", "1, all of a sample", std::to_string(axis));
  op.add({.type = "flatten"});
}

void import_reshape(OnnxOp& op) {
  const OnnxValue& x = op.data(0);
  if (op.opset() >= 14) op.only("allowzero", 0);
  reshape_to(op, x, reshaped(op, x.shape, op.constant_integers(1)));
}

void import_concat(OnnxOp& op) {
  const int64_t axis = op.integer("axis", std::nullopt);
  if (op.inputs() == 0) op.fail("expected inputs, got none");
  if (op.input(0).is_constant()) {
    if (axis != 0) op.fail_attribute("axis", "0 of a shape", std::to_string(axis));
    std::vector<int64_t> joined;
    for (size_t i = 0; i < op.inputs(); ++i) {
      const std::vector<int64_t> part = op.constant_integers(i);
      joined.insert(joined.end(), part.begin(), part.end());
      if (joined.size() > kMaxIntegers)
        op.fail("expected a shape of at most 64 numbers, got " + std::to_string(joined.size()));
    }
    return op.set(integers_value(std::move(joined)));
  }
  std::vector<const OnnxValue*> inputs;
  for (size_t i = 0; i < op.inputs(); ++i) inputs.push_back(&op.data(i));
  const int64_t rank = inputs[0]->shape.rank() + 1, from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 1 || from_front >= rank)
    op.fail_attribute("axis", "one of a sample's " + std::to_string(rank - 1) + " dimensions",
                      std::to_string(axis));
  if (inputs.size() == 1) return op.set(*inputs[0]);
  NewLayer layer{.type = "concatenation"};
  if (from_front != 1) layer.params.set("axis", from_front - 1);
  op.add(std::move(layer), inputs);
}

}  // namespace kaiseki::nn::onnx
