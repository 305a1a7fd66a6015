// SPDX-License-Identifier: MIT
#include "nn/recomputation.h"

#include <algorithm>
#include <utility>

#include "matrix/memory/allocator.h"
#include "nn/lifetimes.h"
#include "nn/memory_model.h"

namespace kaiseki::nn {
namespace {

/// A backward step computes two products of the size of the forward step's: for the gradients of
/// its input and of its filter.
constexpr double kBackward = 2;
constexpr uint64_t kRoomParts = 8;  // the last part is for the workspace of convolutions

class RecomputationSearch {
 public:
  RecomputationSearch(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits)
      : graph_(graph), limits_(limits), dropped_(plan.uses.size()) {
    for (const PlanStep& step : plan.steps) forward_ += seconds_of(step);
    found_.plan = plan;
    judge(found_);
  }

  FittedPlan run() {
    FittedPlan best = found_;
    while (found_.leaves != 0 ? drop_one() || keep_one() : keep_one())
      if (is_better(found_, best)) best = found_;
    return best;
  }

 private:
  /// A value that can be dropped, with the memory that this saved for its time at the last trial.
  struct Candidate {
    size_t value = 0;
    double gain = 0;
  };

  double seconds_of(const PlanStep& step) const {
    const GraphNode& node = graph_.nodes[static_cast<size_t>(step.node)];
    const auto batch = static_cast<double>(limits_.batch);
    auto elements = static_cast<double>(graph_.shape_of(step.output).elements());
    for (int value : step.inputs)
      elements += static_cast<double>(graph_.shape_of(value).elements());
    return batch *
           std::max(static_cast<double>(node.shape.multiply_adds) / limits_.rates.multiply_adds,
                    elements * sizeof(float) / limits_.rates.bytes);
  }

  /// The seconds of the backward pass.
  double backward_seconds(const ExecutionPlan& plan) const {
    double seconds = kBackward * forward_;
    for (const PlanStep& step : plan.steps)
      if (step.recomputed) seconds += seconds_of(step);
    return seconds;
  }

  /// The sum over all steps of the bytes beyond the room.
  double excess(const FittedPlan& fitted) const {
    double sum = 0;
    for (uint64_t bytes : memory_of(fitted.plan))
      if (bytes > limits_.room) sum += static_cast<double>(bytes - limits_.room);
    return sum;
  }

  std::vector<uint64_t> memory_of(const ExecutionPlan& plan) const {
    return predict_memory(graph_, plan, limits_.batch, limits_.rounded);
  }

  void judge(FittedPlan& fitted) const {
    fitted.peak = std::ranges::max(memory_of(fitted.plan));
    fitted.leaves = fitted.peak - std::min(fitted.peak, limits_.room);
    const double backward = backward_seconds(fitted.plan);
    fitted.seconds = forward_ + backward;
    if (!limits_.rates.link || fitted.leaves == 0) return;
    const LinkRates& link = *limits_.rates.link;
    const auto bytes = static_cast<double>(fitted.leaves);
    const double out = bytes / link.to_host, in = bytes / link.to_device;
    fitted.seconds = link.overlaps ? std::max(forward_, out) + std::max(backward, in)
                                   : forward_ + backward + out + in;
  }

  bool is_better(const FittedPlan& a, const FittedPlan& b) const {
    const bool both_run = limits_.rates.link || (a.leaves == 0 && b.leaves == 0);
    return both_run ? a.seconds < b.seconds : a.peak < b.peak;
  }

  /// The plan with one value dropped, or kept.
  FittedPlan with(size_t value, bool dropped) {
    FittedPlan trial{.plan = found_.plan};
    const bool before = dropped_[value];
    dropped_[value] = dropped;
    find_lifetimes(trial.plan, graph_, dropped_);
    dropped_[value] = before;
    judge(trial);
    return trial;
  }

  /// Bytes of excess less, for each second more.
  double gain_of(const FittedPlan& trial) const {
    const double seconds = backward_seconds(trial.plan) - backward_seconds(found_.plan);
    return (excess(found_) - excess(trial)) / std::max(seconds, 1e-9);
  }

  /// Tries all values that can be dropped.
  void try_all() {
    candidates_.clear();
    for (size_t v = 0; v < dropped_.size(); ++v)
      if (found_.plan.droppable[v]) candidates_.push_back({v, gain_of(with(v, true))});
    std::erase_if(candidates_, [](const Candidate& one) { return one.gain <= 0; });
    std::ranges::make_heap(candidates_, {}, &Candidate::gain);
  }

  bool drop_one() {
    if (drop_best()) return true;
    try_all();
    return drop_best();
  }

  /// Gains mostly become smaller with each value that is dropped. So a value is the best if its
  /// gain now is more than the earlier gains of all others.
  bool drop_best() {
    while (!candidates_.empty()) {
      std::ranges::pop_heap(candidates_, {}, &Candidate::gain);
      Candidate best = candidates_.back();
      candidates_.pop_back();
      if (!found_.plan.droppable[best.value]) continue;
      FittedPlan trial = with(best.value, true);
      best.gain = gain_of(trial);
      if (best.gain <= 0) continue;
      if (candidates_.empty() || best.gain >= candidates_.front().gain) {
        dropped_[best.value] = true;
        found_ = std::move(trial);
        return true;
      }
      candidates_.push_back(best);
      std::ranges::push_heap(candidates_, {}, &Candidate::gain);
    }
    return false;
  }

  /// Keeps a dropped value if this needs no more memory: many values that are computed again at one
  /// time need more than they save. Takes the value that saves most time.
  bool keep_one() {
    const double now = excess(found_);
    std::optional<std::pair<size_t, FittedPlan>> best;
    for (size_t v = 0; v < dropped_.size(); ++v) {
      if (!dropped_[v]) continue;
      FittedPlan trial = with(v, false);
      if (excess(trial) <= now && trial.seconds < (best ? best->second : found_).seconds)
        best = {v, std::move(trial)};
    }
    if (!best) return false;
    dropped_[best->first] = false;
    found_ = std::move(best->second);
    candidates_.clear();
    return true;
  }

  const Graph& graph_;
  const PassLimits& limits_;
  double forward_ = 0;  // seconds of the forward pass
  std::vector<bool> dropped_;
  FittedPlan found_;
  std::vector<Candidate> candidates_;  // a heap by gain
};

}  // namespace

FittedPlan fit_plan(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits) {
  return RecomputationSearch(graph, plan, limits).run();
}

FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, Device device) {
  const Allocator& memory = device.memory();
  PassLimits limits{.batch = batch, .room = room, .rounded = [&](uint64_t bytes) {
                      return memory.rounded(bytes);
                    }};
  const uint64_t peak = predict_peak(graph, plan, batch, limits.rounded);
  if (peak <= room) return {.plan = plan, .peak = peak};
  limits.room = room / kRoomParts * (kRoomParts - 1);
  limits.rates = device_rates(device);
  return fit_plan(graph, plan, limits);
}

}  // namespace kaiseki::nn
