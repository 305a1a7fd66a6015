// SPDX-License-Identifier: MIT
#include "dist/train/split.h"

#include <algorithm>
#include <map>
#include <set>

#include "matrix/error.h"
#include "nn/graph.h"

namespace kaiseki::dist {
namespace {

using nn::LayerSpec;
using nn::NetworkSpec;

std::string default_border(const NetworkSpec& spec) {
  for (const LayerSpec& layer : spec.layers)
    if (layer.type == "fully_connected") return layer.inputs[0];
  throw Error(message("split",
                      "expected a fully connected layer before which to cut the network, "
                      "got none; name a layer as the border, or use the mode data"));
}

const nn::Node* find_node(const nn::Graph& graph, std::string_view name) {
  for (const nn::Node& node : graph.nodes)
    if (node.name == name && !node.hidden) return &node;
  return nullptr;
}

}  // namespace

NetworkSplit split_network(std::string_view json, std::string_view border) {
  const NetworkSpec spec = nn::parse_network(json, "network");
  const nn::Graph graph = nn::build_graph(spec);
  NetworkSplit split;
  split.border = border.empty() ? default_border(spec) : std::string(border);
  const nn::Node* last = find_node(graph, split.border);
  if (!last || last->phase || last->layer->is_loss())
    throw Error(
        message("split", "expected as border a layer of both phases, got '", split.border, "'"));
  split.shape = last->shape.output;

  NetworkSpec head = spec, tail = spec;
  head.layers.clear();
  head.outputs = {split.border};
  head.default_loss = NetworkSpec().default_loss;
  tail.layers.clear();
  tail.inputs = {{split.border, "", split.shape}};
  std::set<std::string> after = {split.border};
  for (const LayerSpec& layer : spec.layers) {
    const nn::Node& node = *find_node(graph, layer.name);
    const auto reads = std::count_if(layer.inputs.begin(), layer.inputs.end(),
                                     [&](const std::string& name) { return after.contains(name); });
    const bool in_tail = reads > 0;
    if (reads != (in_tail ? static_cast<int64_t>(layer.inputs.size()) : 0) ||
        (!in_tail && node.layer->is_loss()))
      throw Error(
          message("split", "expected everything to pass through the border '", split.border,
                  "', got layer ", layer.name,
                  ", which does not; name another layer as the border, or use the mode data"));
    if (in_tail) after.insert(layer.name);
    (in_tail ? tail : head).layers.push_back(layer);
    int64_t parameters = 0;
    for (const auto& of : node.shape.parameters) parameters += of.shape.elements();
    (in_tail ? split.tail_parameters : split.head_parameters) += parameters;
    (in_tail ? split.tail_multiply_adds : split.head_multiply_adds) += node.shape.multiply_adds;
  }
  for (const std::string& output : spec.outputs)
    if (output == split.border || !after.contains(output))
      throw Error(message("split", "expected outputs behind the border '", split.border, "', got ",
                          output));
  if (tail.layers.empty())
    throw Error(
        message("split", "expected layers behind the border '", split.border, "', got none"));
  split.head = nn::format_json(nn::to_json(head));
  split.tail = nn::format_json(nn::to_json(tail));
  return split;
}

void share_tensors(nn::Network& whole, nn::Network& part) {
  std::map<std::string, nn::Parameter*> parameters;
  for (nn::Parameter& parameter : whole.parameters()) parameters[parameter.name] = &parameter;
  for (nn::Parameter& parameter : part.parameters()) {
    const nn::Parameter& of = *parameters.at(parameter.name);
    parameter.value = of.value;
    parameter.grad = of.grad;
  }
  std::map<std::string, nn::State*> states;
  for (nn::State& state : whole.states()) states[state.name] = &state;
  for (nn::State& state : part.states()) state.value = states.at(state.name)->value;
}

}  // namespace kaiseki::dist
