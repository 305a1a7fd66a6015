// SPDX-License-Identifier: MIT
// The forward and backward pass over a plan's steps.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "nn/layers/layers.h"
#include "nn/network_impl.h"

namespace kaiseki::nn {
namespace {

Shape with_batch(int64_t n, const Shape& sample) {
  Shape shape = {n};
  for (int64_t dim : sample) shape.push_back(dim);
  return shape;
}

/// The gradient of a value. Several steps can add to it.
struct Gradient {
  Tensor value;
  bool owned = false;  // no other code reads the tensor

  void add(const Tensor& more, bool more_owned) {
    if (!value.defined()) {
      value = more;
      owned = more_owned;
    } else if (owned) {
      update("g = g + more", {{"g", value}, {"more", more}});
    } else {
      value = value + more;
      owned = true;
    }
  }
};

/// Reports the time from its construction to end(). On the CPU, operations have ended when they
/// return, but copies to and from files may still run.
class LayerClock {
 public:
  LayerClock(const NetworkImpl& network, const PlanStep& step, bool backward) : network_(network) {
    if (!network.timer) return;
    finish();
    time_ = {.name = network.graph.nodes[static_cast<size_t>(step.node)].name,
             .backward = backward,
             .begin = steady_seconds()};
  }
  void end() {
    if (!network_.timer) return;
    finish();
    time_.seconds = steady_seconds() - time_.begin;
    network_.timer(time_);
  }

 private:
  void finish() const {
    if (!network_.device.is_cpu()) network_.device.synchronize();
  }

  const NetworkImpl& network_;
  LayerTime time_;
};

}  // namespace

Tensor NetworkImpl::run_step(ForwardRun& run, size_t i, bool again) {
  const ExecutionPlan& plan = *run.plan;
  const PlanStep& step = plan.steps[i];
  GraphNode& node = graph.nodes[static_cast<size_t>(step.node)];
  std::vector<Tensor> inputs, not_saved;
  for (int value : step.inputs) inputs.push_back(run.values[static_cast<size_t>(value)]);
  const auto stream = static_cast<uint32_t>(run.random_step + 1);
  ForwardPass pass{.phase = plan.options.phase,
                   .inputs = inputs,
                   .parameters = parameters_of(node),
                   .states = states_of(node),
                   .targets = node.layer->is_loss() ? run.targets : Tensor(),
                   .random = Random(seed, random_stream(node.name, stream)),
                   .first_sample = run.first_sample,
                   .activation = step.activation,
                   .pooling = step.pooling,
                   .may_overwrite = step.may_overwrite && !again,
                   .save_for_backward = step.needs_backward && !again,
                   .saved = again ? not_saved : run.saved[i],
                   .sum = statistics_sum ? &statistics_sum : nullptr};
  Tensor output = node.layer->forward(pass);
  if (!node.layer->fuses_activation()) apply_activation(step.activation, output);
  return output;
}

void NetworkImpl::forward(ForwardRun& run) {
  const ExecutionPlan& plan = *run.plan;
  run.values.assign(graph.spec.inputs.size() + graph.nodes.size(), Tensor());
  run.saved.assign(plan.steps.size(), {});
  run.losses.assign(plan.steps.size(), Tensor());
  for (size_t i = 0; i < run.inputs.size(); ++i) run.values[i] = run.inputs[i];
  std::optional<Swapping> swapping;
  if (can_swap(device)) swapping.emplace(run, device, swaps[&plan], swappable_weights(plan));
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    LayerClock clock(*this, step, false);
    if (swapping) swapping->begin(plan.forward_time(i));
    Tensor output = naming_step(step, "forward", [&] { return run_step(run, i, false); });
    if (graph.nodes[static_cast<size_t>(step.node)].layer->is_loss()) run.losses[i] = output;
    run.values[static_cast<size_t>(step.output)] = std::move(output);
    for (int value : step.dead) run.values[static_cast<size_t>(value)] = Tensor();
    if (swapping) swapping->end_forward();
    clock.end();
  }
}

Tensor NetworkImpl::total_loss(const ForwardRun& run) const {
  Tensor total;
  for (size_t i = 0; i < run.losses.size(); ++i) {
    if (!run.losses[i].defined()) continue;
    const Layer& layer = *graph.nodes[static_cast<size_t>(run.plan->steps[i].node)].layer;
    const auto weight = static_cast<float>(layer.loss_weight());
    Tensor loss = run.losses[i];
    if (weight != 1) loss = elementwise("w * loss", {{"w", weight}, {"loss", loss}});
    total = total.defined() ? Tensor(total + loss) : loss;
  }
  return total;
}

void NetworkImpl::recompute(ForwardRun& run, int value) {
  Tensor& output = run.values[static_cast<size_t>(value)];
  if (output.defined()) return;
  const auto& steps = run.plan->steps;
  const auto producer = std::ranges::find(steps, value, &PlanStep::output);
  if (producer == steps.end() || !producer->recomputed) return;
  for (int input : producer->inputs) recompute(run, input);
  const auto i = static_cast<size_t>(producer - steps.begin());
  GraphNode& node = graph.nodes[static_cast<size_t>(producer->node)];
  const std::vector<BufferHold> holds = hold_weights(node);  // another step runs now
  output =
      !node.layer->recomputes_output()
          ? run_step(run, i, true)
          : node.layer->recompute({.phase = run.plan->options.phase,
                                   .input = run.values[static_cast<size_t>(producer->inputs[0])],
                                   .parameters = parameters_of(node),
                                   .states = states_of(node),
                                   .activation = producer->activation,
                                   .saved = run.saved[i]});
  for (int dead : producer->dead_again) run.values[static_cast<size_t>(dead)] = Tensor();
}

std::vector<Tensor> NetworkImpl::backward(ForwardRun& run, std::vector<Tensor> seeds) {
  const ExecutionPlan& plan = *run.plan;
  std::vector<Gradient> of_values(run.values.size());
  for (size_t i = 0; i < seeds.size(); ++i) of_values[i].value = seeds[i];
  std::vector<Tensor*> waiting;
  for (Gradient& gradient : of_values) waiting.push_back(&gradient.value);
  std::optional<Swapping> swapping;
  if (can_swap(device))
    swapping.emplace(run, device, swaps[&plan], swappable_weights(plan), waiting);
  std::vector<char> told(parameters.size(), 0);
  const auto ready = [&](size_t first, size_t count) {
    if (!gradient_hook || count == 0) return;
    gradient_hook(std::span(gradients.values).subspan(first, count));
    std::fill_n(told.begin() + static_cast<ptrdiff_t>(first), count, char{1});
  };
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const PlanStep& step = plan.steps[i];
    GraphNode& node = graph.nodes[static_cast<size_t>(step.node)];
    const Layer& layer = *node.layer;
    Gradient from = std::exchange(of_values[static_cast<size_t>(step.output)], {});
    if (!step.needs_backward) continue;
    if (swapping) {
      swapping->begin(plan.backward_time(i));
      swapping->keep(from.value);
    }
    LayerClock clock(*this, step, true);
    const BackwardReads reads = layer.backward_reads();
    if (reads.output || step.activation.kind != Activation::none) recompute(run, step.output);
    const Tensor& output = run.values[static_cast<size_t>(step.output)];
    if (step.activation.kind != Activation::none) {
      from.value = activation_gradient(step.activation, output, from.value, from.owned);
      from.owned = true;
      if (swapping) swapping->keep(from.value);
    }
    const bool last =
        std::ranges::find(step.dead_backward, step.output) != step.dead_backward.end();
    if (last && !reads.output) run.values[static_cast<size_t>(step.output)] = Tensor();
    std::vector<Tensor> inputs;
    std::vector<Shape> shapes;
    std::vector<bool> needs_gradient;
    for (int value : step.inputs) {
      if (reads.input) recompute(run, value);
      inputs.push_back(reads.input ? run.values[static_cast<size_t>(value)] : Tensor());
      shapes.push_back(with_batch(run.batch, graph.shape_of(value)));
      needs_gradient.push_back(plan.needs_gradient[static_cast<size_t>(value)]);
    }
    const size_t first = node.first_parameter, count = node.shape.parameters.size();
    if (!layer.writes_gradients()) write_pending(first, count);
    std::vector<float> beta;
    for (size_t k = first; k < first + count; ++k)
      beta.push_back(std::exchange(pending[k], 0) ? gradients.momentum : 1.0f);
    BackwardPass pass{.phase = plan.options.phase,
                      .pooling = step.pooling,
                      .inputs = inputs,
                      .shapes = shapes,
                      .output = reads.output ? output : Tensor(),
                      .grad_output = step.pooling ? std::exchange(from.value, {}) : from.value,
                      .may_overwrite = from.owned,
                      .scale = static_cast<float>(run.scale * layer.loss_weight()),
                      .parameters = parameters_of(node),
                      .gradients = std::span(gradients.values).subspan(first, count),
                      .beta = beta,
                      .states = states_of(node),
                      .saved = run.saved[i],
                      .needs_gradient = needs_gradient,
                      .grad_inputs = std::vector<Tensor>(inputs.size()),
                      .sum = statistics_sum ? &statistics_sum : nullptr,
                      .gather = gather_factors ? &gather_factors : nullptr};
    naming_step(step, "backward", [&] { layer.backward(pass); });
    if (pass.weight_is_whole) told[first] = 1;
    ready(first + pass.weight_is_whole, count - pass.weight_is_whole);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (!needs_gradient[k]) continue;
      Tensor& given = pass.grad_inputs[k];
      const bool passed_on = given.shares_storage_with(from.value);
      const auto sharing = std::ranges::count_if(pass.grad_inputs, [&](const Tensor& other) {
        return other.defined() && given.shares_storage_with(other);
      });
      of_values[static_cast<size_t>(step.inputs[k])].add(
          given, sharing == 1 && (!passed_on || from.owned));
    }
    run.saved[i].clear();
    for (int value : step.dead_backward) run.values[static_cast<size_t>(value)] = Tensor();
    if (swapping) swapping->end_backward();
    clock.end();
  }
  write_pending(0, parameters.size());
  for (size_t k = 0; k < parameters.size(); ++k)
    if (!told[k]) ready(k, 1);
  std::vector<Tensor> of_inputs;
  for (size_t i = 0; i < graph.spec.inputs.size(); ++i) of_inputs.push_back(of_values[i].value);
  return of_inputs;
}

}  // namespace kaiseki::nn
