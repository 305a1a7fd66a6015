// SPDX-License-Identifier: MIT
#include "nn/graph.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "nn/registry.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kCrossEntropy = "softmax_cross_entropy";
constexpr int64_t kMaxElements = int64_t{1} << 31;    // of one sample's output
constexpr int64_t kMaxParameters = int64_t{1} << 29;  // of a network: 2 GiB

class Builder {
 public:
  explicit Builder(NetworkSpec spec) { graph_.spec = std::move(spec); }

  Graph build() {
    for (size_t i = 0; i < spec().inputs.size(); ++i) {
      const InputSpec& input = spec().inputs[i];
      check_elements(input.shape, input.path);
      values_[input.name] = static_cast<int>(i);
    }
    for (const LayerSpec& layer : spec().layers) add(layer);
    choose_outputs();
    add_losses();
    check_passed_over();
    return std::move(graph_);
  }

 private:
  const NetworkSpec& spec() const { return graph_.spec; }

  [[noreturn]] void fail(const std::string& path, const std::string& what) const {
    throw ParseError(spec().source, path, what);
  }

  void check_elements(const Shape& shape, const std::string& path) const {
    double elements = 1;
    for (int64_t dim : shape) elements *= static_cast<double>(dim);
    if (elements > static_cast<double>(kMaxElements))
      fail(path, text_from("expected at most ", kMaxElements, " elements in a sample, got shape ",
                           shape));
  }

  void add(const LayerSpec& layer) {
    GraphNode node;
    node.name = layer.name;
    node.type = layer.type;
    node.phase = layer.phase;
    LayerParams params(layer.params, spec().source, layer.path, layer.name,
                       {"name", "type", "inputs", "phase"});
    node.layer = make_layer(layer.type, params);
    params.finish();
    for (const std::string& input : layer.inputs) node.inputs.push_back(values_.at(input));
    infer(node, layer);
    values_[layer.name] = graph_.value_of(graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  void infer(GraphNode& node, const LayerSpec& layer) {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int producer = graph_.producer_of(node.inputs[i]);
      if (producer >= 0 && graph_.nodes[static_cast<size_t>(producer)].layer->is_loss())
        fail(layer.path + ".inputs",
             "layer " + layer.name + ": expected no loss as input, got " + layer.inputs[i]);
      shapes.push_back(graph_.shape_of(node.inputs[i]));
    }
    for (const SizeCheck& check : layer.checks)
      if (!check.of_output) compare(check, shapes[0], layer.name);
    try {
      node.shape = node.layer->infer(shapes);
    } catch (const ShapeError& error) {
      fail(layer.path, "layer " + layer.name + ": " + error.what());
    }
    for (const SizeCheck& check : layer.checks)
      if (check.of_output) compare(check, node.shape.output, layer.name);
    check_elements(node.shape.output, layer.path);
    for (const LayerShape::ParameterSpec& parameter : node.shape.parameters)
      count(parameter, layer);
  }

  void compare(const SizeCheck& check, const Shape& shape, const std::string& layer) const {
    const int64_t expected = !check.axis                  ? shape.elements()
                             : *check.axis < shape.rank() ? shape[*check.axis]
                                                          : 0;
    if (expected != check.value)
      fail(check.path, text_from("layer ", layer, ": expected ", expected, " as the ",
                                 check.of_output ? "output" : "layer's input", " is ", shape,
                                 ", got ", check.value));
  }

  void count(const LayerShape::ParameterSpec& parameter, const LayerSpec& layer) {
    double elements = 1;
    for (int64_t dim : parameter.shape) elements *= static_cast<double>(dim);
    parameters_ += std::min(elements, 1e18);
    if (parameters_ > static_cast<double>(kMaxParameters))
      fail(layer.path, text_from("layer ", layer.name, ": expected at most ", kMaxParameters,
                                 " parameters in a network, got ", parameters_));
  }

  void choose_outputs() {
    for (const OutputSpec& output : spec().outputs) {
      const int value = values_.at(output.layer), producer = graph_.producer_of(value);
      if (producer >= 0 && graph_.nodes[static_cast<size_t>(producer)].layer->is_loss())
        fail("outputs", "expected no loss as output, got " + output.layer);
      graph_.outputs.push_back({output.name, value});
    }
    if (!graph_.outputs.empty()) return;
    std::vector<bool> used(spec().inputs.size() + graph_.nodes.size());
    for (const GraphNode& node : graph_.nodes) {
      for (int value : node.inputs) used[static_cast<size_t>(value)] = true;
      if (node.layer->is_loss()) graph_.outputs = {{name_of(node.inputs[0]), node.inputs[0]}};
    }
    if (!graph_.outputs.empty()) return;
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!used[static_cast<size_t>(graph_.value_of(i))])
        graph_.outputs.push_back({graph_.nodes[i].name, graph_.value_of(i)});
  }

  const std::string& name_of(int value) const {
    const int producer = graph_.producer_of(value);
    return producer < 0 ? spec().inputs[static_cast<size_t>(value)].name
                        : graph_.nodes[static_cast<size_t>(producer)].name;
  }

  /// Cross-entropy takes logits. If it reads a softmax, it gets the input of the softmax instead.
  /// Otherwise a softmax is added for the network's output, unless the network names its outputs.
  void add_losses() {
    bool any = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.nodes[i].layer->is_loss()) continue;
      any = true;
      if (graph_.nodes[i].type == kCrossEntropy) fold_softmax(i, spec().outputs.empty());
    }
    if (any) return;
    const int value = graph_.outputs[0].value;
    const Shape& shape = graph_.shape_of(value);
    if (shape.rank() == 0 || shape.elements() != shape[0]) return;
    append_hidden(spec().default_loss, "loss", value);
    if (spec().default_loss == kCrossEntropy) fold_softmax(graph_.nodes.size() - 1, false);
  }

  void append_hidden(const std::string& type, const std::string& name, int input) {
    const Json none = Json::object();
    LayerParams params(none, spec().source, "", name);
    GraphNode node;
    node.name = name;
    node.type = type;
    node.layer = make_layer(type, params);
    node.inputs = {input};
    node.hidden = true;
    const Shape shape = graph_.shape_of(input);
    node.shape = node.layer->infer(std::span(&shape, 1));
    graph_.nodes.push_back(std::move(node));
  }

  void fold_softmax(size_t loss, bool create) {
    const int value = graph_.nodes[loss].inputs[0];
    const int producer = graph_.producer_of(value);
    if (producer >= 0 && graph_.nodes[static_cast<size_t>(producer)].layer->is_softmax()) {
      graph_.nodes[loss].inputs = graph_.nodes[static_cast<size_t>(producer)].inputs;
    } else if (create && value == graph_.outputs[0].value) {
      append_hidden("softmax", graph_.nodes[loss].name + ".softmax", value);
      graph_.outputs[0].value = graph_.value_of(graph_.nodes.size() - 1);
    }
  }

  /// A layer with a phase must not change the shape if another layer reads it.
  void check_passed_over() const {
    for (const GraphNode& node : graph_.nodes) {
      for (int value : node.inputs) {
        const int producer = graph_.producer_of(value);
        if (producer < 0) continue;
        const GraphNode& from = graph_.nodes[static_cast<size_t>(producer)];
        if (!from.phase || from.phase == node.phase) continue;
        const Shape& passed = graph_.shape_of(from.inputs[0]);
        if (passed != from.shape.output)
          fail("layers",
               text_from("layer ", from.name, ": expected output shape ", passed,
                         " like the input, because the layer runs in one phase only and layer ",
                         node.name, " reads it, got ", from.shape.output));
      }
    }
  }

  Graph graph_;
  std::map<std::string, int> values_;
  double parameters_ = 0;
};

}  // namespace

const Shape& Graph::shape_of(int value) const {
  const int producer = producer_of(value);
  return producer < 0 ? spec.inputs[static_cast<size_t>(value)].shape
                      : nodes[static_cast<size_t>(producer)].shape.output;
}

Graph build_graph(NetworkSpec spec) { return Builder(std::move(spec)).build(); }

}  // namespace kaiseki::nn
