// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/error.h"
#include "nn/layer.h"
#include "nn/onnx/importer.h"
#include "nn/onnx/onnx.h"
#include "nn/onnx/operators.h"

namespace kaiseki::nn {
namespace onnx {
namespace {

constexpr int64_t kFirstOpset = 7, kLastOpset = 17;
constexpr size_t kMaxLayers = 10'000, kMaxNamed = 10;
constexpr const char* kUnsupported = "the operator is not supported (the page ONNX has a list)";

/// The outputs of a network that names none.
std::vector<OutputSpec> unread(const NetworkSpec& spec) {
  std::set<std::string> read;
  for (const LayerSpec& layer : spec.layers) read.insert(layer.inputs.begin(), layer.inputs.end());
  std::vector<OutputSpec> outputs;
  for (const LayerSpec& layer : spec.layers)
    if (!read.contains(layer.name)) outputs.push_back({layer.name, layer.name});
  return outputs;
}

}  // namespace

void Importer::fail(std::string_view place, const std::string& what) const {
  throw ParseError(model_.source, place, what);
}

NetworkSpec Importer::run() {
  if (!model_.opset || *model_.opset < kFirstOpset || *model_.opset > kLastOpset)
    fail("opset_import", "expected an operator set from 7 to 17, got " +
                             (model_.opset ? std::to_string(*model_.opset) : "none"));
  spec_.source = model_.source;
  const std::set<std::string> of_any = {"torch_jit", "torch-jit-export", "main_graph", "network"};
  if (!of_any.contains(model_.name)) spec_.name = printable_name(model_.name);
  spec_.metadata = model_.metadata;
  spec_.has_weights = true;
  count_readers();
  for (const TensorData& tensor : model_.initializers)
    if (!values_.emplace(tensor.name, OnnxValue{.tensor = &tensor}).second)
      fail("graph.initializer",
           "expected each name once, got \"" + printable_name(tensor.name) + "\" again");
  add_inputs();
  expect_operators();
  for (size_t i = 0; i < model_.nodes.size(); ++i)
    reads_samples(model_.nodes[i]) ? import(i) : import_constant_node(i);
  add_outputs();
  if (auto loss = model_.metadata.find("loss");
      loss != model_.metadata.end() && loss->second == "mean_squared_error")
    spec_.default_loss = loss->second;
  return std::move(spec_);
}

void Importer::fail_pending(const OnnxValue& value, const std::string& reader) const {
  const char* wanted = "Conv or AveragePool";
  if (value.gain) wanted = "Sigmoid";
  if (value.moved_axis) wanted = "BatchNormalization or the same Transpose";
  fail(value.pending,
       std::string("expected ") + wanted + " as the reader of its output, got " + reader);
}

void Importer::count_readers() {
  for (const NodeData& node : model_.nodes)
    for (const std::string& name : node.inputs) ++readers_[name];
  for (const ValueData& output : model_.outputs) ++readers_[output.name];
}

void Importer::add_inputs() {
  for (size_t i = 0; i < model_.inputs.size(); ++i) {
    const ValueData& input = model_.inputs[i];
    if (values_.contains(input.name))
      continue;  // an initializer: old files list it as an input too
    const std::string place =
        "graph.input[" + std::to_string(i) + "] \"" + printable_name(input.name) + "\"";
    if (input.type != static_cast<int64_t>(ElementType::float32))
      fail(place, "expected float32, got " + element_type_name(input.type));
    const bool rank = input.dims.size() >= 2 && input.dims.size() <= Shape::kMaxRank;
    const auto whole = [](int64_t dim) { return dim >= 1 && dim <= kMaxDimension; };
    if (!rank || !std::all_of(input.dims.begin() + 1, input.dims.end(), whole))
      fail(place,
           "expected a shape of 2 to 8 dimensions, with known sizes except for the batch, got " +
               (input.has_shape ? list_text(input.dims) : "none"));
    OnnxValue value{.layer = free_name(input.name)};
    for (size_t d = 1; d < input.dims.size(); ++d) value.shape.push_back(input.dims[d]);
    value.shared = readers_[input.name] > 1;
    if (!batch_ && input.dims[0] > 0) batch_ = input.dims[0];
    spec_.inputs.push_back({value.layer, place, value.shape});
    values_.emplace(input.name, std::move(value));
  }
  if (spec_.inputs.empty()) fail("graph.input", "expected at least one input, got none");
}

/// The other nodes compute shapes and other constants.
bool Importer::reads_samples(const NodeData& node) const {
  const bool of_shape = node.type == "Shape" || node.type == "Size";
  return !of_shape && std::ranges::any_of(node.inputs, [&](const std::string& name) {
    return samples_.contains(name);
  });
}

/// Throws for the first node that reads samples with an unsupported operator, and names all such
/// operators. The nodes that compute shapes for them would fail earlier, but say less.
void Importer::expect_operators() {
  for (const auto& [name, value] : values_)
    if (!value.is_constant()) samples_.insert(name);
  std::optional<size_t> first;
  std::vector<std::string> others;
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    const NodeData& node = model_.nodes[i];
    if (!reads_samples(node)) continue;
    samples_.insert(node.outputs.begin(), node.outputs.end());
    if (find_operator(node.type)) continue;
    if (!first) first = i;
    const std::string type = printable_name(node.type);
    if (node.type != model_.nodes[*first].type && others.size() < kMaxNamed &&
        std::ranges::find(others, type) == others.end())
      others.push_back(type);
  }
  if (!first) return;
  std::string more;
  for (const std::string& type : others)
    more += (more.empty() ? "; also unsupported: " : ", ") + type;
  OnnxOp(*this, model_.nodes[*first], *first).fail(kUnsupported + more);
}

void Importer::import(size_t index) {
  OnnxOp op(*this, model_.nodes[index], index);
  const Operator import = find_operator(op.type());
  if (!import) op.fail(kUnsupported);
  import(op);
  op.finish();
  if (spec_.layers.size() > kMaxLayers) op.fail("the network has more than 10000 layers");
}

/// If the node cannot be imported, the nodes that read it throw the error. These nodes matter to
/// the user.
void Importer::import_constant_node(size_t index) {
  const NodeData& node = model_.nodes[index];
  if (node.outputs.empty() || values_.contains(node.outputs[0])) return import(index);
  OnnxValue none;
  for (const std::string& input : node.inputs)
    if (const auto at = values_.find(input); at != values_.end() && none.problem.empty())
      none.problem = at->second.problem;
  try {
    if (none.problem.empty()) return import(index);
  } catch (const ParseError& error) {
    none.problem = error.without_source();
  }
  values_.insert_or_assign(node.outputs[0], std::move(none));
}

void Importer::add_outputs() {
  if (model_.outputs.empty()) fail("graph.output", "expected at least one output, got none");
  std::set<std::string> names;
  for (const ValueData& output : model_.outputs) {
    const std::string name = printable_name(output.name), place = "graph.output \"" + name + "\"";
    const auto at = values_.find(output.name);
    if (at == values_.end()) fail(place, "no node has an output of this name");
    const OnnxValue& value = at->second;
    if (!value.problem.empty()) fail(place, "expected a layer's output, got " + value.problem);
    if (!value.pending.empty()) fail_pending(value, place);
    if (value.is_constant()) fail(place, "expected the output of a layer, got a constant");
    if (!names.insert(name).second) fail(place, "two outputs have this name");
    spec_.outputs.push_back({name, value.layer});
  }
  if (spec_.layers.empty()) fail("graph.node", "expected nodes that become layers, got none");
  if (spec_.outputs == unread(spec_)) spec_.outputs.clear();
}

std::string Importer::free_name(const std::string& wish) {
  const std::string base = printable_name(wish.empty() ? "x" : wish);
  std::string name = base;
  while (!names_.insert(name).second) name = base + "_" + std::to_string(++next_suffix_[base] + 1);
  return name;
}

}  // namespace onnx

bool is_onnx(ByteView bytes, std::string_view source) {
  return source.ends_with(".onnx") || (bytes.size() > 1 && bytes[0] == std::byte{8});
}

NetworkSpec read_onnx(ByteView bytes, std::string_view source) {
  const onnx::OnnxModel model = onnx::parse_model(bytes, source);
  return onnx::Importer(model).run();
}

}  // namespace kaiseki::nn
