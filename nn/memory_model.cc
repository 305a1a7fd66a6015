// SPDX-License-Identifier: MIT
#include "nn/memory_model.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "matrix/ceil_div.h"
#include "matrix/has_devices.h"
#include "matrix/memory/out_of_core.h"

namespace kaiseki::nn {
namespace {

/// The bytes of a node's parameters that can leave the device.
uint64_t leaving_bytes(const GraphNode& node, const std::function<uint64_t(uint64_t)>& rounded,
                       uint64_t smallest) {
  uint64_t bytes = 0;
  for (const LayerShape::ParameterSpec& of : node.shape.parameters)
    if (const uint64_t one = static_cast<uint64_t>(of.shape.elements()) * sizeof(float);
        one >= smallest)
      bytes += rounded(one);
  return bytes;
}

/// Follows a pass as NetworkImpl::forward() and backward() run it.
class PassMemory {
 public:
  PassMemory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
             const std::function<uint64_t(uint64_t)>& rounded, const MemoryRoom& room)
      : graph_(graph),
        plan_(plan),
        batch_(batch),
        rounded_(rounded),
        room_(room.bytes),
        smallest_(smallest_outside(room.bytes)) {
    const size_t values = plan.uses.size();
    add_weights(room);
    value_.resize(values);
    gradients_.resize(values);
    saved_.resize(plan.steps.size());
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
      StepMemory now;
      uint64_t before = inputs_, weights = 0;
      for (Block* block : blocks_of(time, i)) {
        before += block->bytes;
        if (std::exchange(block->outside, false)) now.in += block->bytes;
      }
      for (Block* block : weights_of(time)) {
        weights += block->bytes;
        if (std::exchange(block->outside, false)) now.in += block->bytes;
      }
      outside_ -= now.in;
      const uint64_t others = live_ - before, outside = outside_;
      peak_ = taken_ = live_;
      (this->*step)(i);
      now.peak = peak_;
      if (finds_fullest_ && taken_ > fullest_.bytes) {
        const uint64_t all = 2 * leaving_bytes(node_of(plan_.steps[i]), rounded_, 0);
        fullest_ = {taken_, peak_ - others + all, droppable_now()};
      }
      now.own = peak_ - others + weights;
      now.piece = (peak_ - others) / pieces_of(plan_.steps[i]) + filter_of(plan_.steps[i]);
      const uint64_t held = peak_ + idle_ - outside;
      if (kHasDevices && held > room_) swap(time, i, held - room_, now);
      steps.push_back(now);
    };
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      run(plan_.forward_time(i), i, &PassMemory::forward);
    if (plan_.options.backward)
      for (size_t i = plan_.steps.size(); i-- > 0;)
        run(plan_.backward_time(i), i, &PassMemory::backward);
    // Weights, gradients and slots that are outside come back for the optimizer.
    for (const NodeWeights& of : weights_)
      for (const Block* block : {&of.values, &of.gradients})
        if (block->outside) steps[std::min(of.uses[0], steps.size() - 1)].in += block->bytes;
    if (slots_.outside) steps.back().in += slots_.bytes;
    return steps;
  }

  FullestStep find_fullest_step() {
    finds_fullest_ = true;
    steps();
    return fullest_;
  }

 private:
  /// A tensor. If it came back and did not change, it leaves again without a copy.
  struct Block {
    uint64_t bytes = 0;
    bool outside = false, copied = false;
  };
  /// The gradient of a value. The inputs of a sum share one tensor.
  struct GradientMemory {
    std::shared_ptr<Block> block = {};
    bool owned = false;
  };

  struct NodeWeights {
    Block values = {}, gradients = {};
    std::vector<size_t> uses = {}, gradient_uses = {};
  };

  void add_weights(const MemoryRoom& room) {
    slots_.bytes = idle_ = room.slots;
    weights_.resize(graph_.nodes.size());
    weights_of_time_.resize(2 * plan_.steps.size());
    if (!room.weights_leave) return;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      NodeWeights& of = weights_[static_cast<size_t>(plan_.steps[i].node)];
      use(of, of.uses, plan_.forward_time(i));
      if (plan_.steps[i].recomputed) use(of, of.uses, plan_.again_time(i));
      if (!plan_.steps[i].needs_backward) continue;
      use(of, of.uses, plan_.backward_time(i));
      of.gradient_uses.push_back(plan_.backward_time(i));
    }
    for (size_t n = 0; n < weights_.size(); ++n) {
      NodeWeights& of = weights_[n];
      of.values.bytes = of.gradients.bytes = leaving_bytes(graph_.nodes[n], rounded_, smallest_);
      of.uses.push_back(2 * plan_.steps.size() + n);
      of.gradient_uses.push_back(2 * plan_.steps.size() + n);
      idle_ += 2 * of.values.bytes;
    }
  }

  void use(NodeWeights& weights, std::vector<size_t>& uses, size_t time) {
    if (!uses.empty() && uses.back() == time) return;
    uses.push_back(time);
    weights_of_time_[time].push_back(&weights);
  }

  /// The weights that the step at this time reads, and the gradients that it writes.
  std::vector<Block*> weights_of(size_t time) {
    std::vector<Block*> blocks;
    for (NodeWeights* of : weights_of_time_[time]) {
      blocks.push_back(&of->values);
      if (std::ranges::find(of->gradient_uses, time) == of->gradient_uses.end()) continue;
      of->gradients.copied = false;
      blocks.push_back(&of->gradients);
    }
    return blocks;
  }

  std::vector<FullestStep::Droppable> droppable_now() const {
    std::vector<FullestStep::Droppable> all;
    for (size_t v = 0; v < value_.size(); ++v)
      if (plan_.droppable[v] && value_[v].bytes != 0) all.push_back({v, value_[v].bytes});
    return all;
  }

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

  /// A convolution in pieces needs its whole filter.
  uint64_t filter_of(const PlanStep& step) const {
    const auto node = static_cast<size_t>(step.node);
    return graph_.nodes[node].shape.convolution ? weights_[node].values.bytes : 0;
  }

  /// The tensors that the step at this time reads or writes.
  std::vector<Block*> blocks_of(size_t time, size_t i) {
    std::vector<Block*> blocks = {&saved_[i]};
    for (int v : values_of_time_[time]) blocks.push_back(&value(v));
    for (int v : gradients_of_time_[time])
      if (Block* block = gradient(v).block.get();
          block && std::ranges::find(blocks, block) == blocks.end())
        blocks.push_back(block);
    return blocks;
  }

  void move_out(Block& block) {
    block.outside = block.copied = true;
    outside_ += block.bytes;
  }

  /// Other tensors leave the device. The tensor that is needed last leaves first. If a step runs in
  /// pieces, about half of its tensors are copied to the device, and half back.
  void swap(size_t time, size_t i, uint64_t bytes, StepMemory& step) {
    std::vector<Block*> own = blocks_of(time, i);
    for (Block* block : weights_of(time)) own.push_back(block);
    std::vector<std::pair<size_t, Block*>> others;
    const auto add = [&](Block& block, const std::vector<size_t>& uses) {
      if (block.bytes < smallest_ || block.outside) return;
      if (std::ranges::find(own, &block) != own.end()) return;
      const auto at = std::upper_bound(uses.begin(), uses.end(), time);
      const size_t next = at == uses.end() ? SIZE_MAX : *at;
      // Several values can share a gradient. The earliest use counts.
      const auto known = std::ranges::find(others, &block, &std::pair<size_t, Block*>::second);
      if (known == others.end())
        others.emplace_back(next, &block);
      else
        known->first = std::min(known->first, next);
    };
    for (size_t v = 0; v < value_.size(); ++v) {
      add(value_[v], plan_.uses[v]);
      if (gradients_[v].block) add(*gradients_[v].block, plan_.gradient_uses[v]);
    }
    for (size_t s = 0; s < saved_.size(); ++s)
      add(saved_[s], {plan_.forward_time(s), plan_.backward_time(s)});
    add(slots_, {});
    for (NodeWeights& of : weights_) {
      add(of.values, of.uses);
      add(of.gradients, of.gradient_uses);
    }
    std::ranges::sort(others, std::greater(), &std::pair<size_t, Block*>::first);
    uint64_t left = 0;
    for (const auto& [next, block] : others) {
      if (left >= bytes) return;
      left += block->bytes;
      if (!block->copied) step.out += block->bytes;
      move_out(*block);
    }
    if (left >= bytes) return;
    step.in_pieces = true;
    step.in = std::max(step.in, step.own / 2);
    step.out += step.own / 2;
    for (Block* block : own)
      if (block->bytes != 0) move_out(*block);
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

  void take(uint64_t bytes, Block& block) {
    live_ += bytes;
    block.bytes += bytes;
    peak_ = std::max(peak_, live_);
    taken_ = std::max(taken_, live_);
  }
  void free(Block& block) {
    live_ -= block.bytes;
    if (block.outside) outside_ -= block.bytes;
    block = {};
  }
  /// Memory that is freed at the end of the step.
  void touch(uint64_t bytes) { peak_ = std::max(peak_, live_ + bytes); }

  Block& value(int at) { return value_[static_cast<size_t>(at)]; }
  GradientMemory& gradient(int at) { return gradients_[static_cast<size_t>(at)]; }

  GradientMemory take_gradient(int of) {
    GradientMemory taken{std::make_shared<Block>(), true};
    take(bytes_of(of), *taken.block);
    return taken;
  }
  void free(GradientMemory& gradient) {
    if (gradient.block.use_count() == 1) free(*gradient.block);
    gradient = {};
  }

  void forward(size_t i) {
    const PlanStep& step = plan_.steps[i];
    const GraphNode& node = node_of(step);
    if (node.layer->is_loss()) {
      take(bytes_of(step.inputs[0]), saved_[i]);
    } else if (!node.layer->is_view(plan_.options.phase)) {
      // A device without a fused solver computes the tensor before the pooling.
      if (step.pooling) touch(bytes_of(node.shape.output) + 2 * bytes_of(step.output));
      take(bytes_of(step.output), value(step.output));
      if (step.needs_backward && (step.pooling || node.layer->saves_like_output()))
        take(bytes_of(step.output), saved_[i]);
    }
    // A view keeps the memory of its input.
    if (node.layer->is_view(plan_.options.phase) &&
        std::ranges::find(step.dead, step.inputs[0]) != step.dead.end())
      value(step.output) = std::exchange(value(step.inputs[0]), {});
    for (int dead : step.dead) free(value(dead));
  }

  void recompute(int at) {
    const std::optional<size_t> producer = producers_[static_cast<size_t>(at)];
    if (!producer || !plan_.steps[*producer].recomputed || value(at).bytes != 0) return;
    const PlanStep& step = plan_.steps[*producer];
    for (int input : step.inputs) recompute(input);
    take(bytes_of(at), value(at));
    for (int dead : step.dead_again) free(value(dead));
  }

  /// The gradient that a step gives to an input.
  GradientMemory given(const PlanStep& step, int input) {
    const Layer& layer = *node_of(step).layer;
    if (layer.is_view(plan_.options.phase))
      return {gradient(step.output).block, gradient(step.output).owned};
    if (layer.passes_gradient_on()) return {gradient(step.output).block, false};
    return take_gradient(input);
  }

  /// As Gradient::add() does.
  void add(GradientMemory& to, GradientMemory& more, int of) {
    if (to.block && !to.owned) {
      GradientMemory sum = take_gradient(of);
      free(to);
      to = std::move(sum);
    } else if (to.block) {
      to.block->copied = false;
    } else {
      to = more;
    }
  }

  void backward(size_t i) {
    const PlanStep& step = plan_.steps[i];
    if (!step.needs_backward) return;
    const GraphNode& node = node_of(step);
    for (int read : step.read_backward) recompute(read);
    GradientMemory& from = gradient(step.output);
    if (step.activation.kind != Activation::none && from.block && !from.owned) {
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
  const uint64_t room_, smallest_;
  std::vector<Block> value_, saved_;              // by value and by step
  std::vector<GradientMemory> gradients_;         // by value
  std::vector<std::optional<size_t>> producers_;  // by value: the step
  ByTime values_of_time_, gradients_of_time_;     // the values that a step uses
  uint64_t inputs_ = 0, live_ = 0, peak_ = 0;     // bytes
  std::vector<NodeWeights> weights_;              // by node
  std::vector<std::vector<NodeWeights*>> weights_of_time_;
  Block slots_;           // of the optimizer
  uint64_t idle_ = 0;     // bytes of weights_ and slots_
  uint64_t outside_ = 0;  // of the live bytes and of idle_
  uint64_t taken_ = 0;    // as peak_, without memory that the step frees at its end
  bool finds_fullest_ = false;
  FullestStep fullest_;
};

}  // namespace

std::vector<StepMemory> predict_memory(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                       const std::function<uint64_t(uint64_t)>& rounded,
                                       const MemoryRoom& room) {
  return PassMemory(graph, plan, batch, rounded, room).steps();
}

FullestStep find_fullest_step(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                              const std::function<uint64_t(uint64_t)>& rounded) {
  return PassMemory(graph, plan, batch, rounded, {}).find_fullest_step();
}

uint64_t idle_weight_bytes(const Graph& graph, const std::function<uint64_t(uint64_t)>& rounded,
                           uint64_t smallest) {
  uint64_t bytes = 0;
  for (const GraphNode& node : graph.nodes) bytes += 2 * leaving_bytes(node, rounded, smallest);
  return bytes;
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
