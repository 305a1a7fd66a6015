// SPDX-License-Identifier: MIT
// The forward and backward pass over a plan's steps.
#include <algorithm>

#include "matrix/error.h"
#include "matrix/ops/elementwise.h"
#include "nn/layers/layers.h"
#include "nn/network_impl.h"

namespace kaiseki::nn {
namespace {

Shape with_batch(int64_t n, const Shape& sample) {
  Shape shape = {n};
  for (int64_t dim : sample) shape.push_back(dim);
  return shape;
}

/// The gradient of a value, which several steps add to.
struct Gradient {
  Tensor value;
  bool owned = false;  // nobody else reads the tensor

  void add(const Tensor& more, bool more_owned) {
    if (!value.defined()) {
      value = more;
      owned = more_owned;
    } else if (owned) {
      update("g = g + more", {{"g", value}, {"more", more}});
    } else {
      value = kaiseki::add(value, more);
      owned = true;
    }
  }
};

}  // namespace

void Network::Impl::forward(Run& run) {
  const Plan& plan = *run.plan;
  run.values.assign(graph.spec.inputs.size() + graph.nodes.size(), Tensor());
  run.saved.assign(plan.steps.size(), {});
  run.losses.assign(plan.steps.size(), Tensor());
  for (size_t i = 0; i < run.inputs.size(); ++i) run.values[i] = run.inputs[i];
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    Node& node = graph.nodes[static_cast<size_t>(step.node)];
    std::vector<Tensor> inputs;
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
                     .may_overwrite = step.may_overwrite,
                     .keep = step.needs_backward,
                     .saved = run.saved[i]};
    Tensor output = node.layer->forward(pass);
    if (!node.layer->fuses_activation()) apply_activation(step.activation, output);
    if (node.layer->is_loss()) run.losses[i] = output;
    run.values[static_cast<size_t>(step.output)] = std::move(output);
    for (int value : step.dead) run.values[static_cast<size_t>(value)] = Tensor();
  }
}

Tensor Network::Impl::total_loss(const Run& run) const {
  Tensor total;
  for (size_t i = 0; i < run.losses.size(); ++i) {
    if (!run.losses[i].defined()) continue;
    const Layer& layer = *graph.nodes[static_cast<size_t>(run.plan->steps[i].node)].layer;
    const auto weight = static_cast<float>(layer.loss_weight());
    Tensor loss = run.losses[i];
    if (weight != 1) loss = elementwise("w * loss", {{"w", weight}, {"loss", loss}});
    total = total.defined() ? add(total, loss) : loss;
  }
  return total;
}

void Network::Impl::remake(Run& run, int value) {
  Tensor& output = run.values[static_cast<size_t>(value)];
  if (output.defined()) return;
  const auto& steps = run.plan->steps;
  const auto maker = std::find_if(steps.begin(), steps.end(),
                                  [&](const Step& step) { return step.output == value; });
  if (maker == steps.end() || !maker->remade) return;
  remake(run, maker->inputs[0]);
  Node& node = graph.nodes[static_cast<size_t>(maker->node)];
  output = node.layer->remake({.phase = run.plan->options.phase,
                               .input = run.values[static_cast<size_t>(maker->inputs[0])],
                               .parameters = parameters_of(node),
                               .states = states_of(node),
                               .activation = maker->activation,
                               .saved = run.saved[static_cast<size_t>(maker - steps.begin())]});
}

std::vector<Tensor> Network::Impl::backward(Run& run, std::vector<Tensor> seeds) {
  const Plan& plan = *run.plan;
  std::vector<Gradient> gradients(run.values.size());
  for (size_t i = 0; i < seeds.size(); ++i) gradients[i].value = seeds[i];
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const Step& step = plan.steps[i];
    Node& node = graph.nodes[static_cast<size_t>(step.node)];
    const Layer& layer = *node.layer;
    Gradient from = std::exchange(gradients[static_cast<size_t>(step.output)], {});
    if (!step.needs_backward || (!from.value.defined() && !layer.is_loss())) continue;
    const Keeps keeps = layer.keeps();
    if (keeps.output || step.activation.kind != Activation::none) remake(run, step.output);
    const Tensor& output = run.values[static_cast<size_t>(step.output)];
    if (step.activation.kind != Activation::none) {
      from.value = activation_gradient(step.activation, output, from.value, from.owned);
      from.owned = true;
    }
    const bool last =
        std::ranges::find(step.dead_backward, step.output) != step.dead_backward.end();
    if (last && !keeps.output) run.values[static_cast<size_t>(step.output)] = Tensor();
    std::vector<Tensor> inputs;
    std::vector<Shape> shapes;
    std::vector<bool> wanted;
    for (int value : step.inputs) {
      if (keeps.input) remake(run, value);
      inputs.push_back(keeps.input ? run.values[static_cast<size_t>(value)] : Tensor());
      shapes.push_back(with_batch(run.batch, graph.shape_of(value)));
      wanted.push_back(plan.needs_gradient[static_cast<size_t>(value)]);
    }
    if (!layer.writes_gradients()) write_beginnings(parameters_of(node));
    BackwardPass pass{.phase = plan.options.phase,
                      .pooling = step.pooling,
                      .inputs = inputs,
                      .shapes = shapes,
                      .output = keeps.output ? output : Tensor(),
                      .grad_output = step.pooling ? std::exchange(from.value, {}) : from.value,
                      .may_overwrite = from.owned,
                      .scale = static_cast<float>(layer.loss_weight()),
                      .parameters = parameters_of(node),
                      .states = states_of(node),
                      .saved = run.saved[i],
                      .wanted = wanted,
                      .grad_inputs = std::vector<Tensor>(inputs.size())};
    layer.backward(pass);
    for (Parameter& parameter : pass.parameters) parameter.begins = false;
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (!wanted[k]) continue;
      Tensor& given = pass.grad_inputs[k];
      const bool passed_on = given.shares_storage_with(from.value);
      gradients[static_cast<size_t>(step.inputs[k])].add(
          given, !pass.shared && (!passed_on || from.owned));
    }
    run.saved[i].clear();
    for (int value : step.dead_backward) run.values[static_cast<size_t>(value)] = Tensor();
  }
  write_beginnings(parameters);
  std::vector<Tensor> of_inputs;
  for (size_t i = 0; i < graph.spec.inputs.size(); ++i) of_inputs.push_back(gradients[i].value);
  return of_inputs;
}

}  // namespace kaiseki::nn
