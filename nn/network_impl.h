// SPDX-License-Identifier: MIT
// What a Network is made of: the graph, its parameters, its plans, and the pass that a backward
// pass can follow.
#pragma once

#include <map>
#include <optional>

#include "nn/graph.h"
#include "nn/planner.h"

namespace kaiseki::nn {

/// One forward pass, from which a backward pass goes back.
struct Run {
  const Plan* plan = nullptr;
  std::vector<Tensor> inputs = {};
  Tensor targets = {};
  uint64_t random_step = 0;
  int64_t first_sample = 0;
  std::vector<Tensor> values = {};
  std::vector<std::vector<Tensor>> saved = {};  // by step
  std::vector<Tensor> losses = {};              // by step
  int64_t batch = 0;
};

struct Network::Impl {
  Graph graph;
  Device device;
  uint64_t seed = 0;
  uint64_t random_step = 0;
  int64_t first_sample = 0;
  std::vector<Parameter> parameters;
  std::vector<State> states;
  std::map<int, Plan> plans;
  std::optional<Run> last;
  bool has_weights = false;

  const Plan& plan(const PlanOptions& options);
  std::span<Parameter> parameters_of(const Node& node);
  std::span<State> states_of(const Node& node);
  void allocate();
  void load_inline_weights();
  void load_inline(const LayerSpec& layer, InlineWeights& weights, Tensor& to);
  void make_gradients();
  static void write_beginnings(std::span<Parameter> of);

  std::vector<Tensor> prepare(const std::map<std::string, Tensor>& inputs) const;
  void forward(Run& run);
  Tensor total_loss(const Run& run) const;
  /// Makes a value again that was let go, in a backward pass.
  void remake(Run& run, int value);
  /// Goes back through the steps; `gradients` holds those of the values that have one already.
  /// Returns those of the inputs, where the plan wants them.
  std::vector<Tensor> backward(Run& run, std::vector<Tensor> gradients);
  /// The pass before, run again with what a backward pass needs if it was run without.
  Run take_last(bool loss);
};

}  // namespace kaiseki::nn
