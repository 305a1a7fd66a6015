// SPDX-License-Identifier: MIT
#include "nn/memory_model.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kaiseki::nn {
namespace {

/// Follows a pass as NetworkImpl::forward() and backward() run it.
class PassMemory {
 public:
  PassMemory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
             const std::function<uint64_t(uint64_t)>& rounded)
      : graph_(graph), plan_(plan), batch_(batch), rounded_(rounded) {
    const size_t values = plan.uses.size();
    value_.assign(values, 0);
    gradient_.assign(values, 0);
    saved_.assign(plan.steps.size(), 0);
  }

  uint64_t peak() {
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      live_ += bytes_of(graph_.spec.inputs[i].shape);
    peak_ = live_;
    for (size_t i = 0; i < plan_.steps.size(); ++i) forward(i);
    if (plan_.options.backward)
      for (size_t i = plan_.steps.size(); i-- > 0;) backward(i);
    return peak_;
  }

 private:
  uint64_t bytes_of(const Shape& sample) const {
    return rounded_(static_cast<uint64_t>(batch_ * sample.elements()) * sizeof(float));
  }
  uint64_t bytes_of(int value) const { return bytes_of(graph_.shape_of(value)); }
  const GraphNode& node_of(const PlanStep& step) const {
    return graph_.nodes[static_cast<size_t>(step.node)];
  }

  void take(uint64_t bytes, uint64_t& holder) {
    live_ += bytes;
    holder += bytes;
    peak_ = std::max(peak_, live_);
  }
  void free(uint64_t& holder) {
    live_ -= holder;
    holder = 0;
  }
  /// Memory that is freed at the end of the step.
  void touch(uint64_t bytes) { peak_ = std::max(peak_, live_ + bytes); }

  uint64_t& value(int at) { return value_[static_cast<size_t>(at)]; }
  uint64_t& gradient(int at) { return gradient_[static_cast<size_t>(at)]; }

  void forward(size_t i) {
    const PlanStep& step = plan_.steps[i];
    const GraphNode& node = node_of(step);
    if (node.layer->is_loss()) {
      take(bytes_of(step.inputs[0]), saved_[i]);
    } else if (!node.layer->is_view(plan_.options.phase)) {
      // A device without a fused solver computes the tensor before the pooling.
      if (step.pooling) touch(bytes_of(node.shape.output) + bytes_of(step.output));
      take(bytes_of(step.output), value(step.output));
      if (step.needs_backward && (step.pooling || node.layer->saves_like_output()))
        take(bytes_of(step.output), saved_[i]);
    }
    // A view keeps the memory of its input.
    if (node.layer->is_view(plan_.options.phase) &&
        std::ranges::find(step.dead, step.inputs[0]) != step.dead.end())
      value(step.output) += std::exchange(value(step.inputs[0]), 0);
    for (int dead : step.dead) free(value(dead));
  }

  void recompute(int at) {
    const auto producer = std::ranges::find(plan_.steps, at, &PlanStep::output);
    if (producer == plan_.steps.end() || !producer->recomputed || value(at) != 0) return;
    recompute(producer->inputs[0]);
    take(bytes_of(at), value(at));
  }

  void backward(size_t i) {
    const PlanStep& step = plan_.steps[i];
    if (!step.needs_backward) return;
    const GraphNode& node = node_of(step);
    for (int read : step.read_backward) recompute(read);
    if (step.pooling) touch(bytes_of(node.shape.output));
    for (int input : step.inputs)
      if (plan_.needs_gradient[static_cast<size_t>(input)]) {
        if (node.layer->is_view(plan_.options.phase))
          std::swap(gradient(input), gradient(step.output));
        else if (gradient(input) != 0)
          touch(bytes_of(input));  // is added to the gradient that is there
        else
          take(bytes_of(input), gradient(input));
      }
    free(gradient(step.output));
    free(saved_[i]);
    for (int dead : step.dead_backward) free(value(dead));
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  int64_t batch_;
  const std::function<uint64_t(uint64_t)>& rounded_;
  std::vector<uint64_t> value_, gradient_, saved_;  // bytes now, by value and by step
  uint64_t live_ = 0, peak_ = 0;
};

}  // namespace

uint64_t predict_peak(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                      const std::function<uint64_t(uint64_t)>& rounded) {
  return PassMemory(graph, plan, batch, rounded).peak();
}

int64_t samples_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, const std::function<uint64_t(uint64_t)>& rounded) {
  if (predict_peak(graph, plan, batch, rounded) <= room) return batch;
  const auto fits = [&](int64_t samples) {
    return predict_peak(graph, plan, samples, rounded) <= room / 4 * 3;
  };
  int64_t most = 1, too_many = batch;
  while (too_many - most > 1) {
    const int64_t middle = most + (too_many - most) / 2;
    (fits(middle) ? most : too_many) = middle;
  }
  return most;
}

}  // namespace kaiseki::nn
