// SPDX-License-Identifier: MIT
// OnnxOp: attributes, inputs and outputs of one node.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "nn/onnx/importer.h"
#include "nn/registry.h"

namespace kaiseki::nn::onnx {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 31, kMaxParameters = int64_t{1} << 29;
constexpr uint64_t kMaxCopies = 8;    // times the file's size: several nodes can share a constant
constexpr int64_t kMaxIntegers = 64;  // in a constant that is a shape or a list of axes

template <typename T>
std::vector<T> elements_of(const TensorData& tensor, std::string_view source,
                           std::string_view place, const std::vector<T>& listed, const char* type) {
  const auto fail = [&](const std::string& expected, const std::string& got) {
    throw ParseError(
        source, place,
        "constant \"" + printable_name(tensor.name) + "\": expected " + expected + ", got " + got);
  };
  if (tensor.external) fail("its values in this file", "external data");
  const auto count = static_cast<uint64_t>(tensor.elements());
  if (tensor.raw.empty() && listed.size() == count) return listed;
  if (!listed.empty() || tensor.raw.size() != count * sizeof(T))
    fail(std::to_string(count) + " values of " + type + " for the shape " + list_text(tensor.dims),
         listed.empty() ? std::to_string(tensor.raw.size()) + " bytes"
                        : std::to_string(listed.size()));
  std::vector<T> values(count);
  if (count) std::memcpy(values.data(), tensor.raw.data(), tensor.raw.size());
  return values;
}

}  // namespace

double shortest(float value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  double result = value;
  std::from_chars(buffer, end, result);
  return result;
}

std::string list_text(const std::vector<int64_t>& values) {
  std::string text = "[";
  for (int64_t value : values)
    text += (text.size() > 1 ? ", " : "") + (value == kBatch ? "batch" : std::to_string(value));
  return text + "]";
}

std::string printable_name(std::string_view name) {
  constexpr size_t kMaxName = 120;
  std::string text;
  while (!name.empty()) {
    const Utf8Character first = first_character(name);
    const size_t bytes = std::max<size_t>(1, first.bytes);
    if (text.size() + bytes > kMaxName) break;
    text += first.bytes && !is_control(first.code) ? name.substr(0, bytes) : "?";
    name.remove_prefix(bytes);
  }
  return text;
}

std::vector<float> floats_of(const TensorData& tensor, std::string_view source,
                             std::string_view place) {
  if (tensor.type != static_cast<int64_t>(ElementType::float32))
    throw ParseError(source, place,
                     "constant \"" + printable_name(tensor.name) + "\": expected float32, got " +
                         element_type_name(tensor.type));
  return elements_of<float>(tensor, source, place, tensor.float_data, "float32");
}

OnnxOp::OnnxOp(Importer& importer, const NodeData& node, size_t index)
    : importer_(importer), node_(node) {
  place_ = "graph.node[" + std::to_string(index) + "] (" + printable_name(node.type) +
           (node.name.empty() ? "" : " \"" + printable_name(node.name) + "\"") + ")";
  if (!node.domain.empty() && node.domain != "ai.onnx")
    fail("expected an operator of ONNX itself, got one of the domain \"" +
         printable_name(node.domain) + "\"");
  if (node.outputs.empty() || node.outputs[0].empty()) fail("expected an output, got none");
}

void OnnxOp::fail(const std::string& what) const { importer_.fail(place_, what); }

void OnnxOp::fail_attribute(std::string_view name, const std::string& expected,
                            const std::string& got) const {
  fail("attribute " + std::string(name) + ": expected " + expected + ", got " + got);
}

const Attribute* OnnxOp::find(std::string_view name, Attribute::Type type) {
  asked_.emplace(name);
  for (const Attribute& attribute : node_.attributes) {
    if (attribute.name != name) continue;
    if (attribute.type != static_cast<int64_t>(type))
      fail_attribute(name, "a value of type " + std::to_string(static_cast<int>(type)),
                     "type " + std::to_string(attribute.type));
    return &attribute;
  }
  return nullptr;
}

bool OnnxOp::has(std::string_view name) const {
  return std::any_of(node_.attributes.begin(), node_.attributes.end(),
                     [&](const Attribute& attribute) { return attribute.name == name; });
}

int64_t OnnxOp::integer(std::string_view name, std::optional<int64_t> otherwise) {
  if (const Attribute* found = find(name, Attribute::Type::integer)) return found->integer;
  if (!otherwise) fail_attribute(name, "an integer", "nothing");
  return *otherwise;
}

double OnnxOp::number(std::string_view name, double otherwise) {
  const Attribute* found = find(name, Attribute::Type::number);
  if (found && !std::isfinite(found->number))
    fail_attribute(name, "a finite number", std::to_string(found->number));
  return found ? shortest(found->number) : otherwise;
}

std::string OnnxOp::text(std::string_view name, const std::string& otherwise) {
  const Attribute* found = find(name, Attribute::Type::text);
  return found ? printable_name(found->text) : otherwise;
}

std::vector<int64_t> OnnxOp::integers(std::string_view name,
                                      const std::vector<int64_t>& otherwise) {
  const Attribute* found = find(name, Attribute::Type::integers);
  if (found && found->integers.size() > kMaxIntegers)
    fail_attribute(name, "at most 64 integers", std::to_string(found->integers.size()));
  return found ? found->integers : otherwise;
}

const TensorData* OnnxOp::tensor(std::string_view name) {
  const Attribute* found = find(name, Attribute::Type::tensor);
  return found && !found->tensors.empty() ? &found->tensors[0] : nullptr;
}

void OnnxOp::only(std::string_view name, int64_t allowed) {
  if (const int64_t value = integer(name, allowed); value != allowed)
    fail_attribute(name, std::to_string(allowed), std::to_string(value));
}

void OnnxOp::finish() const {
  for (const Attribute& attribute : node_.attributes)
    if (!asked_.contains(attribute.name))
      fail_attribute(printable_name(attribute.name), "a supported attribute", "an unsupported one");
  for (size_t i = 1; i < node_.outputs.size(); ++i)
    if (!node_.outputs[i].empty() && importer_.readers_.contains(node_.outputs[i]))
      fail("expected only the first output to be read, got a reader of \"" +
           printable_name(node_.outputs[i]) + "\"");
}

const OnnxValue& OnnxOp::input(size_t i) const {
  if (!has_input(i)) fail("input " + std::to_string(i) + ": expected a tensor, got none");
  const auto at = importer_.values_.find(node_.inputs[i]);
  if (at == importer_.values_.end())
    fail("input " + std::to_string(i) +
         ": expected an input, an initializer or the output of a "
         "node above, got \"" +
         printable_name(node_.inputs[i]) + "\"");
  if (!at->second.problem.empty())
    fail("input " + std::to_string(i) + ": expected a value, got " + at->second.problem);
  return at->second;
}

const OnnxValue& OnnxOp::data(size_t i, int rank) const {
  const OnnxValue& value = input(i);
  const std::string what = "input " + std::to_string(i) + ": expected ";
  if (value.is_constant()) fail(what + "the output of a layer, got a constant");
  if (!value.pending.empty()) importer_.fail_pending(value, place_);
  if (rank >= 0 && value.shape.rank() != rank)
    fail(what + std::to_string(rank + 1) + " dimensions with the batch, got a sample of shape " +
         value.shape.str());
  return value;
}

const TensorData& OnnxOp::constant(size_t i, const std::vector<int64_t>& dims) const {
  const OnnxValue& value = input(i);
  const std::string what = "input " + std::to_string(i) + ": expected ";
  if (!value.tensor) fail(what + "a constant of float32, got something that is computed");
  const std::vector<int64_t>& found = value.tensor->dims;
  const bool same =
      dims.empty() || std::equal(dims.begin(), dims.end(), found.begin(), found.end(),
                                 [](int64_t a, int64_t b) { return a == b || a == -1; });
  if (!same) fail(what + "a constant of shape " + list_text(dims) + ", got " + list_text(found));
  return *value.tensor;
}

std::vector<int64_t> OnnxOp::constant_integers(size_t i) const {
  const OnnxValue& value = input(i);
  const std::string what = "input " + std::to_string(i) + ": expected ";
  if (value.integers) return *value.integers;
  if (!value.tensor) fail(what + "constant integers, got the output of a layer");
  const TensorData& tensor = *value.tensor;
  if (tensor.elements() > kMaxIntegers || tensor.dims.size() > 1)
    fail(what + "a list of at most 64 integers, got the shape " + list_text(tensor.dims));
  if (tensor.type == static_cast<int64_t>(ElementType::int64))
    return elements_of<int64_t>(tensor, importer_.model_.source, place_, tensor.int_data, "int64");
  if (tensor.type ==
      static_cast<int64_t>(ElementType::float64)) {  // old files have float64 before a Cast
    std::vector<int64_t> whole;
    for (double number :
         elements_of<double>(tensor, importer_.model_.source, place_, {}, "float64")) {
      if (!(std::abs(number) < 0x1p31) || number != std::floor(number))
        fail(what + "whole numbers, got " + std::to_string(number));
      whole.push_back(static_cast<int64_t>(number));
    }
    return whole;
  }
  if (tensor.type != static_cast<int64_t>(ElementType::int32))
    fail(what + "integers, got " + element_type_name(tensor.type));
  for (int64_t number : tensor.int_data)
    if (number != static_cast<int32_t>(number))
      fail(what + "integers of 32 bits, got " + std::to_string(number));
  const std::vector<int32_t> listed(tensor.int_data.begin(), tensor.int_data.end());
  const auto values =
      elements_of<int32_t>(tensor, importer_.model_.source, place_, listed, "int32");
  return {values.begin(), values.end()};
}

std::vector<float> OnnxOp::values(const TensorData& tensor) {
  importer_.parameters_ += tensor.elements();
  if (importer_.parameters_ > kMaxParameters)
    fail("expected at most " + std::to_string(kMaxParameters) + " parameters in a network, got " +
         std::to_string(importer_.parameters_));
  std::vector<float> values = floats_of(tensor, importer_.model_.source, place_);
  const uint64_t limit = kMaxCopies * importer_.model_.bytes;
  const uint64_t used = static_cast<uint64_t>(importer_.parameters_) * sizeof(float);
  if (used > limit)
    fail("nodes share constants: expected parameters of at most " + std::to_string(limit) +
         " bytes, " + std::to_string(kMaxCopies) + " times the file, got " + std::to_string(used));
  return values;
}

void OnnxOp::set(OnnxValue value) {
  const std::string& name = node_.outputs[0];
  const auto readers = importer_.readers_.find(name);
  value.shared = value.shared || (readers != importer_.readers_.end() && readers->second > 1);
  if (!importer_.values_.emplace(name, std::move(value)).second)
    fail("expected an output with a name of its own, got \"" + printable_name(name) + "\" again");
}

OnnxValue OnnxOp::make(NewLayer layer, const std::vector<const OnnxValue*>& inputs) {
  LayerSpec spec;
  spec.type = std::move(layer.type);
  spec.path = place_;
  const std::string wish = !layer.name.empty()  ? layer.name
                           : node_.name.empty() ? node_.outputs[0]
                                                : node_.name;
  spec.name = importer_.free_name(wish);
  spec.params = std::move(layer.params);
  spec.weights = std::move(layer.weights);
  std::vector<Shape> shapes;
  for (const OnnxValue* input : inputs) {
    spec.inputs.push_back(input->layer);
    shapes.push_back(input->shape);
  }
  remove_defaults(spec.params, settings_of(*make_layer(spec.type)));
  LayerParams params(spec.params, importer_.model_.source, place_, spec.name);
  const std::unique_ptr<Layer> made = make_layer(spec.type, params);
  params.finish();
  OnnxValue value{.layer = spec.name};
  try {
    value.shape = made->infer(shapes).output;
  } catch (const ShapeError& error) {
    fail("layer " + spec.name + ": " + error.what());
  }
  double elements = 1;
  for (int64_t dim : value.shape) elements *= static_cast<double>(dim);
  if (elements > static_cast<double>(kMaxElements))
    fail("expected at most 2^31 elements in a sample, got shape " + value.shape.str());
  importer_.layers_[spec.name] = importer_.spec_.layers.size();
  importer_.spec_.layers.push_back(std::move(spec));
  return value;
}

LayerSpec* OnnxOp::without_bias(const OnnxValue& value) {
  const auto at = importer_.layers_.find(value.layer);
  if (at == importer_.layers_.end() || value.shared) return nullptr;
  LayerSpec& layer = importer_.spec_.layers[at->second];
  const Json* bias = layer.params.find("bias");
  return bias && *bias == Json(false) ? &layer : nullptr;
}

}  // namespace kaiseki::nn::onnx
