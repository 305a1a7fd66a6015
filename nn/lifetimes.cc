// SPDX-License-Identifier: MIT
#include "nn/lifetimes.h"

#include <algorithm>

namespace kaiseki::nn {
namespace {

class Lifetimes {
 public:
  Lifetimes(ExecutionPlan& plan, const Graph& graph, std::vector<bool> dropped)
      : plan_(plan),
        graph_(graph),
        dropped_(std::move(dropped)),
        values_(graph.spec.inputs.size() + graph.nodes.size()) {
    dropped_.resize(values_);
  }

  void find() {
    count_readers();
    find_last_uses();
    find_last_uses_backward();
    find_uses();
  }

 private:
  const GraphNode& node_of(const PlanStep& step) const {
    return graph_.nodes[static_cast<size_t>(step.node)];
  }
  const Layer& layer_of(const PlanStep& step) const { return *node_of(step).layer; }
  bool is_view(const PlanStep& step) const { return layer_of(step).is_view(plan_.options.phase); }
  bool is_output(int value) const {
    return std::ranges::find(plan_.outputs, value) != plan_.outputs.end();
  }

  void count_readers() {
    producers_.assign(values_, std::nullopt);
    readers_.assign(values_, 0);
    viewed_.assign(values_, false);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const PlanStep& step = plan_.steps[i];
      producers_[static_cast<size_t>(step.output)] = i;
      for (int value : step.inputs) {
        ++readers_[static_cast<size_t>(value)];
        if (is_view(step)) viewed_[static_cast<size_t>(value)] = true;
      }
    }
  }

  /// Returns the values that the backward pass reads.
  std::vector<bool> find_read_backward() {
    std::vector<bool> read(values_);
    for (PlanStep& step : plan_.steps) {
      step.read_backward.clear();
      if (!step.needs_backward) continue;
      const BackwardReads reads = layer_of(step).backward_reads();
      if (reads.input) step.read_backward = step.inputs;
      if (reads.output || step.activation.kind != Activation::none)
        step.read_backward.push_back(step.output);
      for (int value : step.read_backward) read[static_cast<size_t>(value)] = true;
    }
    return read;
  }

  /// Returns whether forward() computes the same output again, and changes nothing else.
  bool runs_again(const PlanStep& step) const {
    const Layer& layer = layer_of(step);
    return !step.pooling && !layer.is_loss() && !is_view(step) &&
           node_of(step).shape.states.empty();
  }

  /// Marks the outputs that the backward pass computes again. Returns the values that stay in
  /// memory for it.
  std::vector<bool> find_recomputed(const std::vector<bool>& read) {
    std::vector<bool> needed = read, kept(values_);
    plan_.droppable.assign(values_, false);
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      PlanStep& step = plan_.steps[i];
      const auto v = static_cast<size_t>(step.output);
      step.recomputed = false;
      if (!needed[v] || !step.needs_backward || is_output(step.output)) continue;
      const bool always = layer_of(step).recomputes_output();
      // A view of a value keeps its memory.
      const bool can = always || (runs_again(step) && !viewed_[v]);
      step.recomputed = always || (can && dropped_[v]);
      plan_.droppable[v] = can && !step.recomputed;
      if (step.recomputed)
        for (int value : step.inputs) needed[static_cast<size_t>(value)] = true;
    }
    for (size_t v = 0; v < values_; ++v)
      kept[v] = needed[v] && !(producers_[v] && plan_.steps[*producers_[v]].recomputed);
    return kept;
  }

  /// For each value, the step whose backward step reads it first. A backward step also reads a
  /// value to compute another value again.
  std::vector<std::optional<size_t>> find_first_readers() const {
    std::vector<std::optional<size_t>> first(values_);
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      const PlanStep& step = plan_.steps[i];
      const auto read = [&](int value, size_t at) {
        std::optional<size_t>& reader = first[static_cast<size_t>(value)];
        reader = std::max(reader.value_or(at), at);
      };
      for (int value : step.read_backward) read(value, i);
      if (const auto at = first[static_cast<size_t>(step.output)]; at && step.recomputed)
        for (int value : step.inputs) read(value, *at);
    }
    return first;
  }

  /// Finds the values that each backward step reads, also those that it computes others from.
  void find_last_uses_backward() {
    const std::vector<std::optional<size_t>> first = find_first_readers();
    touched_backward_.assign(plan_.steps.size(), {});
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const PlanStep& step = plan_.steps[i];
      for (int value : step.read_backward) touched_backward_[i].push_back(value);
      if (const auto at = first[static_cast<size_t>(step.output)]; at && step.recomputed)
        for (int value : step.inputs) touched_backward_[*at].push_back(value);
    }
    std::vector<bool> seen(values_);
    find_read_once();
    for (PlanStep& step : plan_.steps)
      for (int value : step.dead_again) seen[static_cast<size_t>(value)] = true;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      plan_.steps[i].dead_backward.clear();
      for (int value : touched_backward_[i]) {
        const auto v = static_cast<size_t>(value);
        if (seen[v]) continue;
        seen[v] = true;
        if (!is_output(value)) plan_.steps[i].dead_backward.push_back(value);
      }
    }
  }

  /// Values that are read once in the backward pass, to compute another value again.
  void find_read_once() {
    std::vector<int> reads(values_);
    for (const std::vector<int>& touched : touched_backward_)
      for (int value : touched) ++reads[static_cast<size_t>(value)];
    for (PlanStep& step : plan_.steps)
      for (int value : step.read_backward) reads[static_cast<size_t>(value)] += 2;
    for (PlanStep& step : plan_.steps) {
      step.dead_again.clear();
      if (!step.recomputed) continue;
      for (int value : step.inputs)
        if (reads[static_cast<size_t>(value)] == 1 && !is_output(value))
          step.dead_again.push_back(value);
    }
  }

  void find_last_uses() {
    const std::vector<bool> kept = find_recomputed(find_read_backward());
    std::vector<bool> seen(values_);
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      PlanStep& step = plan_.steps[i];
      std::vector<int> touched = step.inputs;
      touched.push_back(step.output);
      step.dead.clear();
      for (int value : touched) {
        const auto v = static_cast<size_t>(value);
        if (seen[v]) continue;
        seen[v] = true;
        if (!kept[v] && !is_output(value)) step.dead.push_back(value);
      }
      step.may_overwrite = !step.inputs.empty() && can_overwrite(step, kept);
    }
  }

  void find_uses() {
    plan_.uses.assign(values_, {});
    plan_.gradient_uses.assign(values_, {});
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const PlanStep& step = plan_.steps[i];
      std::vector<int> touched = step.inputs;
      touched.push_back(step.output);
      for (int value : touched)
        plan_.uses[static_cast<size_t>(value)].push_back(plan_.forward_time(i));
      if (!step.needs_backward) continue;
      for (int value : touched_backward_[i])
        plan_.uses[static_cast<size_t>(value)].push_back(plan_.backward_time(i));
      for (int value : touched)
        plan_.gradient_uses[static_cast<size_t>(value)].push_back(plan_.backward_time(i));
    }
    for (auto* all : {&plan_.uses, &plan_.gradient_uses})
      for (std::vector<size_t>& times : *all) std::ranges::sort(times);
  }

  bool can_overwrite(const PlanStep& step, const std::vector<bool>& kept) const {
    const auto v = static_cast<size_t>(step.inputs[0]);
    return producers_[v] && !kept[v] && !is_output(step.inputs[0]) && readers_[v] == 1 &&
           !is_view(plan_.steps[*producers_[v]]);
  }

  ExecutionPlan& plan_;
  const Graph& graph_;
  std::vector<bool> dropped_;
  size_t values_;
  std::vector<std::optional<size_t>> producers_;    // by value: the step
  std::vector<int> readers_;                        // by value: the number of reading steps
  std::vector<bool> viewed_;                        // by value: a step makes a view of it
  std::vector<std::vector<int>> touched_backward_;  // by step: values that its backward step reads
};

}  // namespace

void set_lifetimes(ExecutionPlan& plan, const Graph& graph, const std::vector<bool>& dropped) {
  Lifetimes(plan, graph, dropped).find();
}

}  // namespace kaiseki::nn
