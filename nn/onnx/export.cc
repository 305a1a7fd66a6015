// SPDX-License-Identifier: MIT
// Exports the test phase of a network as an ONNX graph with operator set 13.
#include <limits>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "nn/graph.h"
#include "nn/io/tensor_bytes.h"
#include "nn/network.h"
#include "nn/onnx/graph.h"
#include "nn/onnx/layer_writer.h"
#include "nn/onnx/onnx.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kIrVersion = 7, kOpset = 13;
constexpr int64_t kFloat = 1;  // TensorProto.DataType
constexpr int64_t kMaxFile = std::numeric_limits<int32_t>::max();

ProtoWriter value_info(std::string_view name, const Shape& sample) {
  ProtoWriter shape;
  shape.message(1, ProtoWriter().text(2, "N"));
  for (int64_t dim : sample) shape.message(1, ProtoWriter().integer(1, dim));
  ProtoWriter tensor;
  tensor.integer(1, kFloat).message(2, std::move(shape));
  ProtoWriter value, type;
  type.message(1, std::move(tensor));
  value.text(1, name).message(2, std::move(type));
  return value;
}

class Exporter {
 public:
  explicit Exporter(Network& network) : graph_(build_graph(network.spec())) {
    for (const Parameter& parameter : network.parameters())
      onnx_.tensors[parameter.name] = for_file(parameter.value);
    for (const State& state : network.states()) onnx_.tensors[state.name] = for_file(state.value);
  }

  ProtoWriter write(const Metadata& metadata) {
    find_needed();
    for (const InputSpec& input : graph_.spec.inputs) names_.push_back(onnx_.free_name(input.name));
    name_outputs();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    add_copies();
    ProtoWriter graph;
    for (ProtoWriter& node : onnx_.nodes) graph.message(1, std::move(node));
    graph.text(2, graph_.spec.name.empty() ? "network" : graph_.spec.name);
    for (ProtoWriter& initializer : onnx_.initializers) graph.message(5, std::move(initializer));
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      graph.message(11, value_info(names_[i], graph_.spec.inputs[i].shape));
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      graph.message(12, value_info(output_names_[i], graph_.shape_of(graph_.outputs[i].value)));
    ProtoWriter model;
    model.integer(1, kIrVersion).text(2, "kaiseki").message(7, std::move(graph));
    model.message(8, ProtoWriter().text(1, "").integer(2, kOpset));
    Metadata all = metadata;
    if (trains_on_squares()) all["loss"] = "mean_squared_error";
    for (const auto& [key, value] : all)
      model.message(14, ProtoWriter().text(1, key).text(2, value));
    if (model.size() > kMaxFile)
      throw Error(
          message("onnx", "expected a network of at most 2 GiB, got ", format_bytes(model.size())));
    return model;
  }

 private:
  bool passed_over(const GraphNode& node) const {
    return node.phase == Phase::train || node.layer->is_loss();
  }

  /// Marks the values that the outputs need. The test phase skips layers of the training phase.
  void find_needed() {
    needed_.assign(graph_.spec.inputs.size() + graph_.nodes.size(), false);
    for (const Graph::NamedOutput& output : graph_.outputs)
      needed_[static_cast<size_t>(output.value)] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!needed_[static_cast<size_t>(graph_.value_of(i))]) continue;
      const std::vector<int>& inputs = graph_.nodes[i].inputs;
      const size_t count = passed_over(graph_.nodes[i]) ? 1 : inputs.size();
      for (size_t k = 0; k < count; ++k) needed_[static_cast<size_t>(inputs[k])] = true;
    }
  }

  const std::string& name_of(int value) const { return names_[static_cast<size_t>(value)]; }

  /// Returns the value that replaces `value` in the test phase.
  int in_test_phase(int value) const {
    for (int i = graph_.producer_of(value); i >= 0; i = graph_.producer_of(value)) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(i)];
      if (!passed_over(node)) break;
      value = node.inputs[0];
    }
    return value;
  }

  /// Reserves the names of the outputs. If a value is an output, it gets the output's name. If it
  /// is several outputs, the name that equals the layer's name is preferred, then the first
  /// output's name.
  void name_outputs() {
    for (const Graph::NamedOutput& output : graph_.outputs) {
      const int value = in_test_phase(output.value), i = graph_.producer_of(value);
      const bool is_input = i < 0 && output.name == name_of(value);
      output_names_.push_back(is_input ? output.name : onnx_.free_name(output.name));
      if (i < 0) continue;
      std::string& name = of_outputs_[value];
      if (name.empty() || output.name == graph_.nodes[static_cast<size_t>(i)].name)
        name = output_names_.back();
    }
  }

  /// Adds the outputs that equal another output or an input, but have another name.
  void add_copies() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const std::string &name = output_names_[i],
                        &from = name_of(in_test_phase(graph_.outputs[i].value));
      if (name != from) onnx_.nodes.push_back(OnnxNode("Identity", name, {from}, name).take());
    }
  }

  bool trains_on_squares() const {
    for (const GraphNode& node : graph_.nodes)
      if (node.type == "mean_squared_error") return true;
    return false;
  }

  void add(size_t i) {
    const GraphNode& node = graph_.nodes[i];
    const bool absent = !needed_[static_cast<size_t>(graph_.value_of(i))];
    if (absent || passed_over(node)) {
      names_.push_back(absent ? "" : name_of(node.inputs[0]));
      return;
    }
    const auto output = of_outputs_.find(graph_.value_of(i));
    names_.push_back(output == of_outputs_.end() ? onnx_.free_name(node.name) : output->second);
    OnnxLayerWriter writer(onnx_, node.name, node.type);
    for (int input : node.inputs) writer.inputs.push_back(name_of(input));
    writer.output = names_.back();
    writer.input_shape = graph_.shape_of(node.inputs[0]);
    writer.output_shape = node.shape.output;
    node.layer->to_onnx(writer);
  }

  Graph graph_;
  OnnxGraph onnx_;
  std::vector<bool> needed_;               // by value
  std::vector<std::string> names_;         // by value
  std::vector<std::string> output_names_;  // by output
  std::map<int, std::string> of_outputs_;  // the names of values that are outputs
};

}  // namespace

ByteVector encode_onnx(Network& network, const Metadata& metadata) {
  Exporter exporter(network);
  return exporter.write(metadata).encode();
}

void expect_onnx(Network& network) { Exporter(network).write({}); }

void write_onnx(const std::filesystem::path& file, Network& network, const Metadata& metadata) {
  Exporter exporter(network);
  const ProtoWriter model = exporter.write(metadata);
  write_file_atomic(file, model.parts());
}

}  // namespace kaiseki::nn
