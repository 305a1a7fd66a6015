// SPDX-License-Identifier: MIT
// Graph: a network's layers with their shapes, and the tensors ("values") between them. Value i is
// input i, value inputs.size() + j the output of node j.
#pragma once

#include <memory>
#include <vector>

#include "nn/layer.h"
#include "nn/network_spec.h"

namespace kaiseki::nn {

struct Node {
  std::string name, type;
  std::unique_ptr<Layer> layer;
  std::vector<int> inputs;  // values
  std::optional<Phase> phase;
  LayerShape shape;
  bool hidden = false;  // added by us: a loss, or the softmax that it implies
  size_t first_parameter = 0, first_state = 0;
};

struct Graph {
  NetworkSpec spec;
  std::vector<Node> nodes;   // each after its inputs
  std::vector<int> outputs;  // values; the first is the network's output

  int value_of(size_t node) const { return static_cast<int>(spec.inputs.size() + node); }
  /// The node that makes a value, or -1 for an input.
  int maker_of(int value) const { return value - static_cast<int>(spec.inputs.size()); }
  const Shape& shape_of(int value) const;
};

/// Checks everything that the JSON says; allocates nothing for parameters. Throws ParseError.
Graph build_graph(NetworkSpec spec);

}  // namespace kaiseki::nn
