// SPDX-License-Identifier: MIT
#include "nn/planner.h"

#include <algorithm>

#include "nn/lifetimes.h"

namespace kaiseki::nn {
namespace {

class ExecutionPlanner {
 public:
  ExecutionPlanner(const Graph& graph, const ExecutionPlanOptions& options) : graph_(graph) {
    plan_.options = options;
    values_ = graph.spec.inputs.size() + graph.nodes.size();
    for (const Graph::NamedOutput& output : graph.outputs)
      plan_.outputs.push_back(resolve(output.value));
  }

  ExecutionPlan make() {
    choose_steps();
    fuse_activations();
    fuse_poolings();
    find_folded_loss();
    find_gradients();
    set_lifetimes(plan_, graph_);
    return std::move(plan_);
  }

 private:
  const GraphNode& node_of(const PlanStep& step) const {
    return graph_.nodes[static_cast<size_t>(step.node)];
  }
  const Layer& layer_of(const PlanStep& step) const { return *node_of(step).layer; }

  bool in_phase(const GraphNode& node) const {
    return !node.phase || *node.phase == plan_.options.phase;
  }

  /// Returns the value that replaces `value` when layers of the other phase are skipped.
  int resolve(int value) const {
    for (int producer = graph_.producer_of(value); producer >= 0;
         producer = graph_.producer_of(value)) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(producer)];
      if (in_phase(node) || node.layer->is_loss()) break;
      value = node.inputs[0];
    }
    return value;
  }

  void choose_steps() {
    std::vector<bool> wanted(values_);
    if (plan_.options.loss) folded_ = folding_loss();
    for (size_t i = folded_ >= 0 ? 1 : 0; i < plan_.outputs.size(); ++i)
      wanted[static_cast<size_t>(plan_.outputs[i])] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const GraphNode& node = graph_.nodes[i];
      const int output = graph_.value_of(i);
      if (!in_phase(node)) continue;
      if (node.layer->is_loss() ? !plan_.options.loss : !wanted[static_cast<size_t>(output)])
        continue;
      PlanStep step{.node = static_cast<int>(i), .output = output};
      for (int value : node.inputs) {
        step.inputs.push_back(resolve(value));
        wanted[static_cast<size_t>(step.inputs.back())] = true;
      }
      plan_.steps.push_back(std::move(step));
    }
    std::reverse(plan_.steps.begin(), plan_.steps.end());
  }

  void find_folded_loss() {
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      if (plan_.steps[i].node == folded_) plan_.folded_loss = i;
  }

  /// Returns the cross-entropy node with the input of the network's last softmax, or -1.
  int folding_loss() const {
    const int producer = graph_.producer_of(plan_.outputs[0]);
    if (producer < 0 || !graph_.nodes[static_cast<size_t>(producer)].layer->is_softmax()) return -1;
    const int logits = resolve(graph_.nodes[static_cast<size_t>(producer)].inputs[0]);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (node.type == "softmax_cross_entropy" && in_phase(node) &&
          resolve(node.inputs[0]) == logits)
        return static_cast<int>(i);
    }
    return -1;
  }

  bool is_output(int value) const {
    return std::find(plan_.outputs.begin(), plan_.outputs.end(), value) != plan_.outputs.end();
  }

  std::vector<size_t> consumers_of(int value) const {
    std::vector<size_t> consumers;
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      consumers.insert(consumers.end(),
                       static_cast<size_t>(std::count(plan_.steps[i].inputs.begin(),
                                                      plan_.steps[i].inputs.end(), value)),
                       i);
    return consumers;
  }

  PlanStep* producer_step(int value) {
    auto at = std::find_if(plan_.steps.begin(), plan_.steps.end(),
                           [&](const PlanStep& step) { return step.output == value; });
    return at == plan_.steps.end() ? nullptr : &*at;
  }

  void fuse_activations() {
    for (size_t i = 0; i < plan_.steps.size();) {
      const auto activation = layer_of(plan_.steps[i]).as_activation();
      if (activation && (fuse_after_maximum(i, *activation) || fuse_into_producer(i, *activation)))
        plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  }

  /// max(relu(x)) = relu(max(x)). The second form computes fewer elements, and the larger tensor
  /// can be freed.
  bool fuse_after_maximum(size_t i, const FusedActivation& activation) {
    PlanStep& step = plan_.steps[i];
    const bool exact =
        activation.kind == Activation::relu || activation.kind == Activation::leaky_relu;
    const std::vector<size_t> consumers = consumers_of(step.output);
    if (!exact || is_output(step.output) || consumers.size() != 1) return false;
    PlanStep& consumer = plan_.steps[consumers[0]];
    if (!layer_of(consumer).takes_maximum() || consumer.activation.kind != Activation::none)
      return false;
    consumer.activation = activation;
    consumer.inputs = step.inputs;
    return true;
  }

  bool fuse_into_producer(size_t i, const FusedActivation& activation) {
    PlanStep& step = plan_.steps[i];
    PlanStep* producer = producer_step(step.inputs[0]);
    if (!producer || is_output(producer->output) || consumers_of(producer->output).size() != 1)
      return false;
    const Layer& layer = layer_of(*producer);
    if (producer->activation.kind != Activation::none || layer.backward_reads().output ||
        layer.is_loss() || layer.is_view(plan_.options.phase))
      return false;
    producer->activation = activation;
    producer->output = step.output;
    return true;
  }

  /// Runs after fuse_activations(), which moves activations from before a maximum to after it.
  void fuse_poolings() {
    for (size_t i = 0; i < plan_.steps.size();) {
      PlanStep& step = plan_.steps[i];
      const FusedPooling pooling = layer_of(step).as_pooling();
      PlanStep* producer = pooling ? producer_step(step.inputs[0]) : nullptr;
      if (!producer || !layer_of(*producer).fuses_pooling() || is_output(producer->output) ||
          consumers_of(producer->output).size() != 1 ||
          producer->activation.kind != Activation::none || producer->pooling) {
        ++i;
        continue;
      }
      producer->pooling = pooling;
      producer->activation = step.activation;
      producer->output = step.output;
      plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// For each value, whether a gradient reaches it. Gradients begin at the losses. Without losses,
  /// they begin at the first output.
  std::vector<bool> find_reached() const {
    std::vector<bool> reached(values_);
    if (!plan_.options.loss) reached[static_cast<size_t>(plan_.outputs[0])] = true;
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      const PlanStep& step = plan_.steps[i];
      if (!layer_of(step).is_loss() && !reached[static_cast<size_t>(step.output)]) continue;
      for (int value : step.inputs) reached[static_cast<size_t>(value)] = true;
    }
    return reached;
  }

  void find_gradients() {
    plan_.needs_gradient.assign(values_, false);
    if (!plan_.options.backward) return;
    const std::vector<bool> reached = find_reached();
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      plan_.needs_gradient[i] = plan_.options.input_gradients;
    for (PlanStep& step : plan_.steps) {
      if (!layer_of(step).is_loss() && !reached[static_cast<size_t>(step.output)]) continue;
      step.needs_backward = !node_of(step).shape.parameters.empty();
      for (int value : step.inputs)
        if (plan_.needs_gradient[static_cast<size_t>(value)]) step.needs_backward = true;
      plan_.needs_gradient[static_cast<size_t>(step.output)] = step.needs_backward;
    }
  }

  const Graph& graph_;
  size_t values_;
  int folded_ = -1;  // node
  ExecutionPlan plan_;
};

}  // namespace

ExecutionPlan make_execution_plan(const Graph& graph, const ExecutionPlanOptions& options) {
  return ExecutionPlanner(graph, options).make();
}

}  // namespace kaiseki::nn
