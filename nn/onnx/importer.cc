// SPDX-License-Identifier: MIT
#include "nn/onnx/importer.h"

#include <algorithm>

#include "matrix/error.h"
#include "nn/layer.h"
#include "nn/onnx/onnx.h"
#include "nn/onnx/operators.h"

namespace kaiseki::nn {
namespace onnx {
namespace {

constexpr int64_t kFirstOpset = 7, kLastOpset = 17;
constexpr size_t kMaxLayers = 10'000;

std::vector<std::string> unread(const NetworkSpec& spec) {
  std::set<std::string> read;
  for (const LayerSpec& layer : spec.layers) read.insert(layer.inputs.begin(), layer.inputs.end());
  std::vector<std::string> names;
  for (const LayerSpec& layer : spec.layers)
    if (!read.contains(layer.name)) names.push_back(layer.name);
  return names;
}

}  // namespace

void Importer::fail(std::string_view place, const std::string& what) const {
  throw ParseError(model_.source, place, what);
}

NetworkSpec Importer::run() {
  if (model_.opset < kFirstOpset || model_.opset > kLastOpset)
    fail("opset_import", "expected an operator set from 7 to 17, got " +
                             (model_.opset ? std::to_string(model_.opset) : "none"));
  spec_.source = model_.source;
  const std::set<std::string> of_any = {"torch_jit", "torch-jit-export", "main_graph", "network"};
  if (!of_any.contains(model_.name)) spec_.name = printable_name(model_.name);
  spec_.metadata = model_.metadata;
  spec_.has_weights = true;
  count_readers();
  for (const TensorData& tensor : model_.initializers)
    if (!values_.emplace(tensor.name, Value{.tensor = &tensor}).second)
      fail("graph.initializer",
           "expected each name once, got \"" + printable_name(tensor.name) + "\" again");
  add_inputs();
  for (size_t i = 0; i < model_.nodes.size(); ++i) {
    Op op(*this, model_.nodes[i], i);
    const Operator import = find_operator(op.type());
    if (!import)
      op.fail("expected an operator that a layer stands for (docs/onnx.md), got another");
    import(op);
    op.finish();
    if (spec_.layers.size() > kMaxLayers) op.fail("expected at most 10000 layers, got more");
  }
  add_outputs();
  if (auto loss = model_.metadata.find("loss");
      loss != model_.metadata.end() && loss->second == "mean_squared_error")
    spec_.default_loss = loss->second;
  return std::move(spec_);
}

void Importer::count_readers() {
  for (const NodeData& node : model_.nodes)
    for (const std::string& name : node.inputs) ++readers_[name];
  for (const ValueData& output : model_.outputs) ++readers_[output.name];
}

void Importer::add_inputs() {
  for (size_t i = 0; i < model_.inputs.size(); ++i) {
    const ValueData& input = model_.inputs[i];
    if (values_.contains(input.name)) continue;  // an initializer: old files list both
    const std::string place =
        "graph.input[" + std::to_string(i) + "] \"" + printable_name(input.name) + "\"";
    if (input.type != static_cast<int64_t>(ElementType::float32))
      fail(place, "expected float32, got " + element_type_name(input.type));
    const bool rank = input.dims.size() >= 2 && input.dims.size() <= Shape::kMaxRank;
    const auto whole = [](int64_t dim) { return dim >= 1 && dim <= kMaxDimension; };
    if (!rank || !std::all_of(input.dims.begin() + 1, input.dims.end(), whole))
      fail(place,
           "expected a shape of 2 to 8 dimensions, of which only the first, the batch, may "
           "be left open, got " +
               (input.has_shape ? list_text(input.dims) : "none"));
    Value value{.layer = free_name(input.name)};
    for (size_t d = 1; d < input.dims.size(); ++d) value.shape.push_back(input.dims[d]);
    value.shared = readers_[input.name] > 1;
    if (!batch_ && input.dims[0] > 0) batch_ = input.dims[0];
    spec_.inputs.push_back({value.layer, place, value.shape});
    values_.emplace(input.name, std::move(value));
  }
  if (spec_.inputs.empty()) fail("graph.input", "expected at least one input, got none");
}

void Importer::add_outputs() {
  if (model_.outputs.empty()) fail("graph.output", "expected at least one output, got none");
  if (spec_.layers.empty()) fail("graph.node", "expected nodes that become layers, got none");
  for (const ValueData& output : model_.outputs) {
    const auto at = values_.find(output.name);
    const bool plain = at != values_.end() && !at->second.is_constant() &&
                       at->second.pads.empty() && !at->second.gain;
    if (!plain)
      fail("graph.output \"" + printable_name(output.name) + "\"",
           "expected the output of a layer, got a constant, a name of no node, or the output of "
           "Pad or Mul");
    spec_.outputs.push_back(at->second.layer);
  }
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
  const onnx::Model model = onnx::parse_model(bytes, source);
  return onnx::Importer(model).run();
}

}  // namespace kaiseki::nn
