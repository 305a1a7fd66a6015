// SPDX-License-Identifier: MIT
#include "dist/train/split.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
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

const nn::GraphNode* find_node(const nn::Graph& graph, std::string_view name) {
  for (const nn::GraphNode& node : graph.nodes)
    if (node.name == name && !node.hidden) return &node;
  return nullptr;
}

}  // namespace

NetworkSplit split_network(const NetworkSpec& spec, std::string_view border) {
  const nn::Graph graph = nn::build_graph(spec);
  NetworkSplit split;
  split.border = border.empty() ? default_border(spec) : std::string(border);
  const nn::GraphNode* last = find_node(graph, split.border);
  if (!last || last->phase || last->layer->is_loss())
    throw Error(message(
        "split", "expected as border a layer before the loss that runs in both phases, got '",
        split.border, "'"));
  split.shape = last->shape.output;

  NetworkSpec &backbone = split.backbone, &head = split.head;
  backbone = head = spec;
  backbone.layers.clear();
  backbone.outputs = {{split.border, split.border}};
  backbone.default_loss = NetworkSpec().default_loss;
  head.layers.clear();
  head.inputs = {{split.border, "", split.shape}};
  std::set<std::string> after = {split.border};
  for (const LayerSpec& layer : spec.layers) {
    const nn::GraphNode& node = *find_node(graph, layer.name);
    const auto reads = std::count_if(layer.inputs.begin(), layer.inputs.end(),
                                     [&](const std::string& name) { return after.contains(name); });
    const bool in_head = reads > 0;
    if (reads != (in_head ? static_cast<int64_t>(layer.inputs.size()) : 0) ||
        (!in_head && node.layer->is_loss()))
      throw Error(message(
          "split", "expected all paths to pass through the border '", split.border, "', got layer ",
          layer.name, ", which does not; name another layer as the border, or use the mode data"));
    if (in_head) after.insert(layer.name);
    (in_head ? head : backbone).layers.push_back(layer);
    int64_t parameters = 0;
    for (const auto& of : node.shape.parameters) parameters += of.shape.elements();
    (in_head ? split.head_parameters : split.backbone_parameters) += parameters;
    (in_head ? split.head_multiply_adds : split.backbone_multiply_adds) += node.shape.multiply_adds;
  }
  for (const nn::OutputSpec& output : spec.outputs)
    if (output.layer == split.border || !after.contains(output.layer))
      throw Error(message("split", "expected outputs behind the border '", split.border, "', got ",
                          output.layer));
  if (head.layers.empty())
    throw Error(
        message("split", "expected layers behind the border '", split.border, "', got none"));
  return split;
}

void share_tensors(nn::Network& whole, nn::Network& part) {
  std::map<std::string, size_t> at;
  const std::span<nn::Parameter> from = whole.parameters(), to = part.parameters();
  for (size_t i = 0; i < from.size(); ++i) at[from[i].name] = i;
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t source = at.at(to[i].name);
    to[i].value = from[source].value;
    part.gradients().values[i] = whole.gradients().values[source];
  }
  std::map<std::string, nn::State*> states;
  for (nn::State& state : whole.states()) states[state.name] = &state;
  for (nn::State& state : part.states()) state.value = states.at(state.name)->value;
}

}  // namespace kaiseki::dist
