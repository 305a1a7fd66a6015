// SPDX-License-Identifier: MIT
// Graph: a network's layers with their shapes, and the tensors ("values") between them. Value i is
// input i. Value inputs.size() + j is the output of node j.
#pragma once

#include <memory>
#include <vector>

#include "nn/layer.h"
#include "nn/network_spec.h"

namespace kaiseki::nn {

struct GraphNode {
  std::string name, type;
  std::unique_ptr<Layer> layer;
  std::vector<int> inputs;  // values
  std::optional<Phase> phase;
  LayerShape shape;
  bool hidden = false;  // not in the spec: a default loss, or a softmax that was added for a loss
  size_t first_parameter = 0, first_state = 0;
};

struct Graph {
  struct NamedOutput {
    std::string name;
    int value = 0;
  };
  NetworkSpec spec;
  std::vector<GraphNode> nodes;      // in topological order
  std::vector<NamedOutput> outputs;  // the first is the network's output

  int value_of(size_t node) const { return static_cast<int>(spec.inputs.size() + node); }
  /// Returns the node that computes a value, or -1 for an input.
  int producer_of(int value) const { return value - static_cast<int>(spec.inputs.size()); }
  const Shape& shape_of(int value) const;
};

/// Checks all layers and infers their shapes. Allocates no parameters. Throws ParseError.
Graph build_graph(NetworkSpec spec);

}  // namespace kaiseki::nn
