// SPDX-License-Identifier: MIT
#include "nn/memory_model.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "matrix/ceil_div.h"

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
    gradients_.resize(values);
    saved_.assign(plan.steps.size(), 0);
    producers_.assign(values, std::nullopt);
    for (size_t i = 0; i < plan.steps.size(); ++i)
      producers_[static_cast<size_t>(plan.steps[i].output)] = i;
    values_of_time_ = by_time(plan.uses);
    gradients_of_time_ = by_time(plan.gradient_uses);
  }

  std::vector<StepMemory> steps() {
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      inputs_ += bytes_of(graph_.spec.inputs[i].shape);
    live_ = inputs_;
    std::vector<StepMemory> steps;
    const auto run = [&](size_t time, size_t i, void (PassMemory::*step)(size_t)) {
      const uint64_t others = bytes_of_others(time, i);
      peak_ = live_;
      (this->*step)(i);
      const uint64_t own = peak_ - others;
      steps.push_back({peak_, own, own / pieces_of(plan_.steps[i])});
    };
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      run(plan_.forward_time(i), i, &PassMemory::forward);
    if (plan_.options.backward)
      for (size_t i = plan_.steps.size(); i-- > 0;)
        run(plan_.backward_time(i), i, &PassMemory::backward);
    return steps;
  }

 private:
  /// The gradient of a value. The inputs of a sum share one tensor.
  struct GradientMemory {
    std::shared_ptr<uint64_t> bytes = {};
    bool owned = false;
  };

  uint64_t bytes_of(const Shape& sample) const {
    return rounded_(static_cast<uint64_t>(batch_ * sample.elements()) * sizeof(float));
  }
  uint64_t bytes_of(int value) const { return bytes_of(graph_.shape_of(value)); }
  const GraphNode& node_of(const PlanStep& step) const {
    return graph_.nodes[static_cast<size_t>(step.node)];
  }

  /// Batch normalization divides channels, and other steps divide at least samples.
  uint64_t pieces_of(const PlanStep& step) const {
    const Shape& sample = node_of(step).shape.output;
    const bool by_channel = node_of(step).layer->couples_samples(plan_.options.phase);
    return static_cast<uint64_t>(std::max<int64_t>(1, !by_channel     ? batch_
                                                      : sample.rank() ? sample[0]
                                                                      : 1));
  }

  /// The tensors that the step at this time neither reads nor writes.
  uint64_t bytes_of_others(size_t time, size_t i) const {
    uint64_t own = inputs_ + saved_[i];
    for (int v : values_of_time_[time]) own += value_[static_cast<size_t>(v)];
    for (int v : gradients_of_time_[time])
      if (const auto& bytes = gradients_[static_cast<size_t>(v)].bytes)
        own += *bytes / static_cast<uint64_t>(bytes.use_count());
    return live_ - std::min(live_, own);
  }

  using ByTime = std::vector<std::vector<int>>;
  ByTime by_time(const std::vector<std::vector<size_t>>& uses) const {
    ByTime values(2 * plan_.steps.size());
    for (size_t v = 0; v < uses.size(); ++v)
      for (size_t time : uses[v])
        if (std::vector<int>& all = values[time]; all.empty() || all.back() != static_cast<int>(v))
          all.push_back(static_cast<int>(v));
    return values;
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
  GradientMemory& gradient(int at) { return gradients_[static_cast<size_t>(at)]; }

  GradientMemory take_gradient(int of) {
    GradientMemory taken{std::make_shared<uint64_t>(0), true};
    take(bytes_of(of), *taken.bytes);
    return taken;
  }
  void free(GradientMemory& gradient) {
    if (gradient.bytes.use_count() == 1) free(*gradient.bytes);
    gradient = {};
  }

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
    const std::optional<size_t> producer = producers_[static_cast<size_t>(at)];
    if (!producer || !plan_.steps[*producer].recomputed || value(at) != 0) return;
    const PlanStep& step = plan_.steps[*producer];
    for (int input : step.inputs) recompute(input);
    take(bytes_of(at), value(at));
    for (int dead : step.dead_again) free(value(dead));
  }

  /// The gradient that a step gives to an input.
  GradientMemory given(const PlanStep& step, int input) {
    const Layer& layer = *node_of(step).layer;
    if (layer.is_view(plan_.options.phase))
      return {gradient(step.output).bytes, gradient(step.output).owned};
    if (layer.passes_gradient_on()) return {gradient(step.output).bytes, false};
    return take_gradient(input);
  }

  /// As Gradient::add() does.
  void add(GradientMemory& to, GradientMemory& more, int of) {
    if (to.bytes && !to.owned) {
      GradientMemory sum = take_gradient(of);
      free(to);
      to = std::move(sum);
    } else if (!to.bytes) {
      to = more;
    }
  }

  void backward(size_t i) {
    const PlanStep& step = plan_.steps[i];
    if (!step.needs_backward) return;
    const GraphNode& node = node_of(step);
    for (int read : step.read_backward) recompute(read);
    GradientMemory& from = gradient(step.output);
    if (step.activation.kind != Activation::none && from.bytes && !from.owned) {
      GradientMemory own = take_gradient(step.output);
      free(from);
      from = std::move(own);
    }
    if (step.pooling) touch(bytes_of(node.shape.output));
    std::vector<std::pair<int, GradientMemory>> to_inputs;
    for (int input : step.inputs)
      if (plan_.needs_gradient[static_cast<size_t>(input)])
        to_inputs.emplace_back(input, given(step, input));
    for (auto& [input, more] : to_inputs) add(gradient(input), more, input);
    free(from);
    for (auto& [input, more] : to_inputs) free(more);
    free(saved_[i]);
    for (int dead : step.dead_backward) free(value(dead));
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  int64_t batch_;
  const std::function<uint64_t(uint64_t)>& rounded_;
  std::vector<uint64_t> value_, saved_;           // bytes now, by value and by step
  std::vector<GradientMemory> gradients_;         // by value
  std::vector<std::optional<size_t>> producers_;  // by value: the step
  ByTime values_of_time_, gradients_of_time_;     // the values that a step uses
  uint64_t inputs_ = 0, live_ = 0, peak_ = 0;
};

}  // namespace

std::vector<StepMemory> predict_memory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                       const std::function<uint64_t(uint64_t)>& rounded) {
  return PassMemory(graph, plan, batch, rounded).steps();
}

uint64_t predict_peak(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                      const std::function<uint64_t(uint64_t)>& rounded) {
  uint64_t peak = 0;
  for (const StepMemory& step : predict_memory(graph, plan, batch, rounded))
    peak = std::max(peak, step.peak);
  return peak;
}

int64_t parts_that_fit(const Graph& graph, const ExecutionPlan& plan, int64_t batch, uint64_t room,
                       const std::function<uint64_t(uint64_t)>& rounded) {
  const auto couples = [&](const PlanStep& step) {
    return graph.nodes[static_cast<size_t>(step.node)].layer->couples_samples(plan.options.phase);
  };
  if (batch < 2 || std::ranges::any_of(plan.steps, couples)) return 1;
  return ceil_div(batch, samples_that_fit(graph, plan, batch, room, rounded));
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
