// SPDX-License-Identifier: MIT
// Plan: the steps of one pass over a graph, with activations and poolings fused into the steps
// before them, and when each tensor can be let go.
#pragma once

#include <vector>

#include "nn/graph.h"

namespace kaiseki::nn {

struct PlanOptions {
  Phase phase = Phase::test;
  bool loss = false;             // up to the losses, not just to the outputs
  bool backward = false;         // a backward pass follows
  bool input_gradients = false;  // which goes down to the inputs
};

struct Step {
  int node = 0;
  std::vector<int> inputs = {};  // values
  int output = 0;
  FusedActivation activation = {};
  FusedPooling pooling = {};            // before the activation
  bool may_overwrite = false;           // the output may take the first input's storage
  bool needs_backward = false;          // it has parameters, or an input needs a gradient
  bool remade = false;                  // the output is let go, and made again in the backward pass
  std::vector<int> dead = {};           // values that nothing reads after the forward step
  std::vector<int> dead_backward = {};  // ... after the backward step
};

struct Plan {
  PlanOptions options;
  std::vector<Step> steps;
  std::vector<bool> needs_gradient;  // by value
  std::vector<int> outputs;          // values, as Graph::outputs
  int folded_loss = -1;              // step of a loss whose probabilities are the first output
};

Plan make_plan(const Graph& graph, const PlanOptions& options);

}  // namespace kaiseki::nn
