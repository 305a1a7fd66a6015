// SPDX-License-Identifier: MIT
// ExecutionPlan: the steps of one pass over a graph. Activations and poolings are fused into the
// steps before them. The plan says when each tensor can be freed.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "nn/graph.h"

namespace kaiseki::nn {

/// Tensors that left the device begin to come back this number of steps before their use.
inline constexpr size_t kStepsAhead = 2;

struct ExecutionPlanOptions {
  Phase phase = Phase::test;
  bool loss = false;             // computes the losses, not only the outputs
  bool backward = false;         // a backward pass follows
  bool input_gradients = false;  // the backward pass goes to the inputs
};

struct PlanStep {
  int node = 0;
  std::vector<int> inputs = {};  // values
  int output = 0;
  FusedActivation activation = {};
  FusedPooling pooling = {};   // before the activation
  bool may_overwrite = false;  // the output may take the first input's storage
  /// A gradient comes to it, and it has parameters or an input needs a gradient.
  bool needs_backward = false;
  bool recomputed = false;  // the output is freed, and the backward pass computes it again
  std::vector<int> read_backward = {};  // values that the backward step reads
  std::vector<int> dead = {};           // values that nothing reads after the forward step
  std::vector<int> dead_backward = {};  // values that nothing reads after the backward step
  std::vector<int> dead_again = {};     // values that nothing reads after the output is recomputed
};

/// Times count the forward steps, and then the backward steps. Time `steps - 1` is the last forward
/// step. Time `steps` is its backward step.
struct ExecutionPlan {
  ExecutionPlanOptions options;
  std::vector<PlanStep> steps;
  /// For each value, the times of the steps that read or write it, and of those that use its
  /// gradient.
  std::vector<std::vector<size_t>> uses, gradient_uses;
  std::vector<bool> needs_gradient;  // for each value
  /// For each value, whether it stays in memory though its step could compute it again.
  std::vector<bool> droppable;
  std::vector<int> outputs;  // values, in the order of Graph::outputs
  /// The step of the loss that computes the first output as its probabilities.
  std::optional<size_t> folded_loss;

  size_t forward_time(size_t step) const { return step; }
  size_t backward_time(size_t step) const { return 2 * steps.size() - 1 - step; }
  /// The time at which the backward pass computes the output again. backward_time() if it does not.
  size_t again_time(size_t step) const {
    const std::vector<size_t>& times = uses[static_cast<size_t>(steps[step].output)];
    const auto first = std::lower_bound(times.begin(), times.end(), steps.size());
    return steps[step].recomputed && first != times.end() ? *first : backward_time(step);
  }
};

}  // namespace kaiseki::nn
