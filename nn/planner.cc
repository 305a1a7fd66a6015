// SPDX-License-Identifier: MIT
#include "nn/planner.h"

#include <algorithm>

namespace kaiseki::nn {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options) : graph_(graph) {
    plan_.options = options;
    values_ = graph.spec.inputs.size() + graph.nodes.size();
    plan_.outputs = graph.outputs;
  }

  Plan make() {
    choose_steps();
    fuse_activations();
    fuse_poolings();
    find_folded_loss();
    find_gradients();
    find_ends();
    return std::move(plan_);
  }

 private:
  const Node& node_of(const Step& step) const {
    return graph_.nodes[static_cast<size_t>(step.node)];
  }
  const Layer& layer_of(const Step& step) const { return *node_of(step).layer; }

  bool in_phase(const Node& node) const {
    return !node.phase || *node.phase == plan_.options.phase;
  }

  /// What a value stands for when the layers of the other phase are passed over.
  int resolve(int value) const {
    for (int maker = graph_.maker_of(value); maker >= 0; maker = graph_.maker_of(value)) {
      const Node& node = graph_.nodes[static_cast<size_t>(maker)];
      if (in_phase(node) || node.layer->is_loss()) break;
      value = node.inputs[0];
    }
    return value;
  }

  void choose_steps() {
    std::vector<bool> wanted(values_);
    for (int& value : plan_.outputs) value = resolve(value);
    if (plan_.options.loss) folded_ = folding_loss();
    for (size_t i = folded_ >= 0 ? 1 : 0; i < plan_.outputs.size(); ++i)
      wanted[static_cast<size_t>(plan_.outputs[i])] = true;
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const int output = graph_.value_of(i);
      if (!in_phase(node)) continue;
      if (node.layer->is_loss() ? !plan_.options.loss : !wanted[static_cast<size_t>(output)])
        continue;
      Step step{.node = static_cast<int>(i), .output = output};
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
      if (plan_.steps[i].node == folded_) plan_.folded_loss = static_cast<int>(i);
  }

  /// The node of a cross-entropy that reads what the network's last softmax reads.
  int folding_loss() const {
    const int maker = graph_.maker_of(plan_.outputs[0]);
    if (maker < 0 || !graph_.nodes[static_cast<size_t>(maker)].layer->is_softmax()) return -1;
    const int logits = resolve(graph_.nodes[static_cast<size_t>(maker)].inputs[0]);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.type == "softmax_cross_entropy" && in_phase(node) &&
          resolve(node.inputs[0]) == logits)
        return static_cast<int>(i);
    }
    return -1;
  }

  bool is_output(int value) const {
    return std::find(plan_.outputs.begin(), plan_.outputs.end(), value) != plan_.outputs.end();
  }

  std::vector<size_t> readers_of(int value) const {
    std::vector<size_t> readers;
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      readers.insert(readers.end(),
                     static_cast<size_t>(std::count(plan_.steps[i].inputs.begin(),
                                                    plan_.steps[i].inputs.end(), value)),
                     i);
    return readers;
  }

  Step* maker_step(int value) {
    auto at = std::find_if(plan_.steps.begin(), plan_.steps.end(),
                           [&](const Step& step) { return step.output == value; });
    return at == plan_.steps.end() ? nullptr : &*at;
  }

  void fuse_activations() {
    for (size_t i = 0; i < plan_.steps.size();) {
      const auto activation = layer_of(plan_.steps[i]).as_activation();
      if (activation && (move_past_maximum(i, *activation) || join_maker(i, *activation)))
        plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  }

  /// max(relu(x)) = relu(max(x)), on fewer elements, and the larger tensor need not be kept.
  bool move_past_maximum(size_t i, const FusedActivation& activation) {
    Step& step = plan_.steps[i];
    const bool exact =
        activation.kind == Activation::relu || activation.kind == Activation::leaky_relu;
    const std::vector<size_t> readers = readers_of(step.output);
    if (!exact || is_output(step.output) || readers.size() != 1) return false;
    Step& reader = plan_.steps[readers[0]];
    if (!layer_of(reader).takes_maximum() || reader.activation.kind != Activation::none)
      return false;
    reader.activation = activation;
    reader.inputs = step.inputs;
    return true;
  }

  bool join_maker(size_t i, const FusedActivation& activation) {
    Step& step = plan_.steps[i];
    Step* maker = maker_step(step.inputs[0]);
    if (!maker || is_output(maker->output) || readers_of(maker->output).size() != 1) return false;
    const Layer& layer = layer_of(*maker);
    if (maker->activation.kind != Activation::none || layer.keeps().output || layer.is_loss() ||
        layer.is_view(plan_.options.phase))
      return false;
    maker->activation = activation;
    maker->output = step.output;
    return true;
  }

  /// After the activations, so that those before a maximum stand behind it.
  void fuse_poolings() {
    for (size_t i = 0; i < plan_.steps.size();) {
      Step& step = plan_.steps[i];
      const FusedPooling pooling = layer_of(step).as_pooling();
      Step* maker = pooling ? maker_step(step.inputs[0]) : nullptr;
      if (!maker || !layer_of(*maker).fuses_pooling() || is_output(maker->output) ||
          readers_of(maker->output).size() != 1 || maker->activation.kind != Activation::none ||
          maker->pooling) {
        ++i;
        continue;
      }
      maker->pooling = pooling;
      maker->activation = step.activation;
      maker->output = step.output;
      plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void find_gradients() {
    plan_.needs_gradient.assign(values_, false);
    if (!plan_.options.backward) return;
    for (size_t i = 0; i < graph_.spec.inputs.size(); ++i)
      plan_.needs_gradient[i] = plan_.options.input_gradients;
    for (Step& step : plan_.steps) {
      step.needs_backward = !node_of(step).shape.parameters.empty();
      for (int value : step.inputs)
        if (plan_.needs_gradient[static_cast<size_t>(value)]) step.needs_backward = true;
      plan_.needs_gradient[static_cast<size_t>(step.output)] = step.needs_backward;
    }
  }

  /// Which values the backward pass reads.
  std::vector<bool> find_read_backward() const {
    std::vector<bool> read(values_);
    for (const Step& step : plan_.steps) {
      if (!step.needs_backward) continue;
      const Keeps keeps = layer_of(step).keeps();
      if (keeps.output || step.activation.kind != Activation::none)
        read[static_cast<size_t>(step.output)] = true;
      if (keeps.input)
        for (int value : step.inputs) read[static_cast<size_t>(value)] = true;
    }
    return read;
  }

  /// Of what the backward pass reads, lets go what it can make again.
  std::vector<bool> find_remade(const std::vector<bool>& read) {
    std::vector<bool> kept = read;
    for (Step& step : plan_.steps) {
      const auto v = static_cast<size_t>(step.output);
      step.remade = step.needs_backward && layer_of(step).remakes_output() && read[v] &&
                    !is_output(step.output);
      if (step.remade) kept[v] = false;
    }
    return kept;
  }

  void find_ends() {
    const std::vector<bool> read_backward = find_read_backward();
    const std::vector<bool> kept = find_remade(read_backward);
    std::vector<bool> seen(values_), seen_backward(values_);
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      Step& step = plan_.steps[i];
      std::vector<int> touched = step.inputs;
      touched.push_back(step.output);
      for (int value : touched) {
        const auto v = static_cast<size_t>(value);
        if (seen[v]) continue;
        seen[v] = true;
        if (!kept[v] && !is_output(value)) step.dead.push_back(value);
      }
      step.may_overwrite = !step.inputs.empty() && can_overwrite(step, kept);
    }
    for (Step& step : plan_.steps) {
      const Keeps keeps = layer_of(step).keeps();
      std::vector<int> read;
      if (keeps.input) read = step.inputs;
      if (keeps.output || step.activation.kind != Activation::none) read.push_back(step.output);
      for (int value : read) {
        const auto v = static_cast<size_t>(value);
        if (!step.needs_backward || seen_backward[v] || !read_backward[v]) continue;
        seen_backward[v] = true;
        if (!is_output(value)) step.dead_backward.push_back(value);
      }
    }
  }

  bool can_overwrite(const Step& step, const std::vector<bool>& kept) {
    const int value = step.inputs[0];
    Step* maker = maker_step(value);
    return maker && !kept[static_cast<size_t>(value)] && !is_output(value) &&
           readers_of(value).size() == 1 && !layer_of(*maker).is_view(plan_.options.phase);
  }

  const Graph& graph_;
  size_t values_;
  int folded_ = -1;  // node
  Plan plan_;
};

}  // namespace

Plan make_plan(const Graph& graph, const PlanOptions& options) {
  return Planner(graph, options).make();
}

}  // namespace kaiseki::nn
