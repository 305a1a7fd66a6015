// SPDX-License-Identifier: MIT
#include "nn/recomputation.h"

#include <algorithm>
#include <utility>

#include "matrix/ceil_div.h"
#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/workspace.h"
#include "nn/lifetimes.h"
#include "nn/memory_model.h"
#include "nn/pass_timeline.h"
#include "nn/piece_times.h"
#include "nn/plan_bound.h"

namespace kaiseki::nn {
namespace {

constexpr double kOtherRates[] = {8, 1.0 / 8, 64, 1.0 / 64};
constexpr double kOtherRooms[] = {1.5, 2, 3, 4};
constexpr uint64_t kRoomParts = 8;  // one part is for the workspace of convolutions

/// Bytes of weights, gradients and slots that can leave.
uint64_t idle_bytes(const Graph& graph, const PassLimits& limits) {
  if (!limits.rates.link) return 0;
  return limits.slots + idle_weight_bytes(graph, limits.rounded, smallest_outside(limits.room));
}

/// The room for the pass's tensors. At least half of all room, because idle tensors can leave.
uint64_t beside(uint64_t room, uint64_t idle) {
  return std::max(room - std::min(room, idle), room / 2);
}

bool is_better(const FittedPlan& a, const FittedPlan& b) {
  return std::pair(a.missing, a.seconds) < std::pair(b.missing, b.seconds);
}

class RecomputationSearch {
 public:
  /// The search ends when a pass needs at most `goal` bytes.
  RecomputationSearch(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits,
                      uint64_t goal)
      : graph_(graph),
        limits_(limits),
        idle_(idle_bytes(graph, limits)),
        goal_(goal),
        times_(step_times(graph, plan, limits.batch, limits.rates, limits.known_seconds)),
        pieces_(graph, limits, times_),
        dropped_(plan.uses.size()) {
    for (const StepTime& time : times_) forward_ += time.forward, backward_ += time.backward;
    found_.fitted.plan = plan;
    judge(found_);
    add_link(found_.fitted);
  }

  const FittedPlan& of_given_plan() const { return found_.fitted; }

  FittedPlan run() {
    FittedPlan best = found_.fitted;
    while (found_.excess > 0 ? drop_one() || keep_one() : keep_one()) {
      add_link(found_.fitted);
      if (is_better(found_.fitted, best)) best = found_.fitted;
    }
    return best;
  }

 private:
  struct Trial {
    FittedPlan fitted = {};
    double excess = 0;    // the sum over all steps of the bytes beyond the goal
    double backward = 0;  // seconds of the backward pass, without the link
  };

  /// A value that can be dropped, with gain_of() its last trial.
  struct Candidate {
    size_t value = 0;
    double gain = 0;
  };

  static bool by_gain(const Candidate& a, const Candidate& b) { return a.gain < b.gain; }

  double backward_seconds(const ExecutionPlan& plan) const {
    double seconds = backward_;
    for (size_t i = 0; i < plan.steps.size(); ++i)
      if (plan.steps[i].recomputed) seconds += times_[i].forward;
    return seconds;
  }

  static uint64_t beyond(uint64_t bytes, uint64_t room) { return bytes - std::min(bytes, room); }

  void judge(Trial& trial) const {
    FittedPlan& fitted = trial.fitted;
    for (const StepMemory& step :
         predict_memory(graph_, fitted.plan, limits_.batch, limits_.rounded)) {
      fitted.peak = std::max(fitted.peak, step.peak);
      trial.excess += static_cast<double>(beyond(step.peak, goal_));
    }
    trial.backward = backward_seconds(fitted.plan);
    fitted.seconds = forward_ + trial.backward;
    fitted.on_device = fitted.peak;
    fitted.room = limits_.room;
    fitted.slots = limits_.slots;
    fitted.missing = beyond(fitted.peak + idle_, limits_.room);
  }

  /// Adds the time of the copies of tensors that leave the device.
  void add_link(FittedPlan& fitted) {
    if (!limits_.rates.link || fitted.peak + idle_ <= limits_.room) return;
    const std::vector<StepMemory> steps =
        predict_memory(graph_, fitted.plan, limits_.batch, limits_.rounded,
                       {.bytes = limits_.room, .weights_leave = true, .slots = limits_.slots});
    const std::vector<double> compute = compute_by_time(fitted.plan);
    PassTimeline timeline(*limits_.rates.link);
    uint64_t least = 0;
    for (size_t time = 0; time < steps.size(); ++time) {
      const StepMemory& step = steps[time];
      fitted.leaves += step.out;
      least = std::max(least, step.piece);
      if (!step.in_pieces) {
        timeline.add(compute[time], step.out, step.in);
        continue;
      }
      ++fitted.in_pieces;
      const StepPieces pieces = pieces_.of(fitted.plan, time, step);
      const uint64_t copied = step.own / 2;  // bytes that the pieces copy in each direction
      const double slower = 2 * limits_.rates.link->slows * static_cast<double>(copied);
      timeline.add(compute[time] + pieces.seconds - pieces.compute + slower, step.out - copied,
                   step.in - copied);
    }
    fitted.on_device = std::min(fitted.peak, beside(limits_.room, idle_));
    fitted.missing = beyond(least, limits_.room);
    fitted.seconds = timeline.seconds();
  }

  /// The seconds of each step without copies.
  std::vector<double> compute_by_time(const ExecutionPlan& plan) const {
    std::vector<double> seconds(2 * plan.steps.size());
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      seconds[plan.forward_time(i)] += times_[i].forward;
      seconds[plan.backward_time(i)] += times_[i].backward;
      if (plan.steps[i].recomputed) seconds[plan.again_time(i)] += times_[i].forward;
    }
    return seconds;
  }

  /// Tries the plan with this value dropped, or kept.
  Trial with(size_t value, bool dropped) {
    Trial trial{.fitted = {.plan = found_.fitted.plan}};
    const bool before = dropped_[value];
    dropped_[value] = dropped;
    set_lifetimes(trial.fitted.plan, graph_, dropped_);
    dropped_[value] = before;
    judge(trial);
    return trial;
  }

  bool is_droppable(size_t value) const { return found_.fitted.plan.droppable[value]; }

  /// The bytes of excess that the trial saves, for each second that it adds.
  double gain_of(const Trial& trial) const {
    return (found_.excess - trial.excess) / std::max(trial.backward - found_.backward, 1e-9);
  }

  /// Tries all values that can be dropped.
  void try_all() {
    candidates_.clear();
    for (size_t v = 0; v < dropped_.size(); ++v)
      if (is_droppable(v)) candidates_.push_back({v, gain_of(with(v, true))});
    std::erase_if(candidates_, [](const Candidate& one) { return one.gain <= 0; });
    std::make_heap(candidates_.begin(), candidates_.end(), by_gain);
  }

  bool drop_one() {
    if (drop_best()) return true;
    try_all();
    return drop_best();
  }

  /// Each dropped value usually reduces the gains of the others. A value is therefore the best if
  /// its present gain is at least the earlier gains of all others.
  bool drop_best() {
    while (!candidates_.empty()) {
      std::pop_heap(candidates_.begin(), candidates_.end(), by_gain);
      Candidate best = candidates_.back();
      candidates_.pop_back();
      if (!is_droppable(best.value)) continue;
      Trial trial = with(best.value, true);
      best.gain = gain_of(trial);
      if (best.gain <= 0) continue;
      if (candidates_.empty() || best.gain >= candidates_.front().gain) {
        dropped_[best.value] = true;
        found_ = std::move(trial);
        return true;
      }
      candidates_.push_back(best);
      std::push_heap(candidates_.begin(), candidates_.end(), by_gain);
    }
    return false;
  }

  /// Keeps a dropped value if this needs no more memory. Many values that are computed again at one
  /// time may need more memory than they save. Takes the value that saves the most time.
  bool keep_one() {
    std::optional<std::pair<size_t, Trial>> best;
    for (size_t v = 0; v < dropped_.size(); ++v) {
      if (!dropped_[v]) continue;
      Trial trial = with(v, false);
      if (trial.excess <= found_.excess && trial.backward < (best ? best->second : found_).backward)
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
  const uint64_t idle_;  // bytes that can leave, without the pass's tensors
  const uint64_t goal_;  // bytes
  const std::vector<StepTime> times_;
  PieceTimes pieces_;
  double forward_ = 0, backward_ = 0;  // seconds of the passes, without computing again
  std::vector<bool> dropped_;
  Trial found_;
  std::vector<Candidate> candidates_;  // a heap by gain
};

}  // namespace

FittedPlan fit_plan(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits) {
  const uint64_t room = beside(limits.room, idle_bytes(graph, limits));
  RecomputationSearch first(graph, plan, limits, room);
  const FittedPlan whole = first.of_given_plan();
  FittedPlan best = first.run();
  // With a link, a plan that computes less again and moves the rest may be the fastest.
  for (const double factor : kOtherRooms) {
    const double goal = factor * static_cast<double>(room);
    if (!limits.rates.link || goal >= static_cast<double>(whole.peak)) break;
    const FittedPlan other =
        RecomputationSearch(graph, plan, limits, static_cast<uint64_t>(goal)).run();
    if (is_better(other, best)) best = other;
  }
  // The rates determine the order in which values are dropped. Other rates may lead to a fit.
  for (const double factor : kOtherRates) {
    if (best.missing == 0) break;
    PassLimits others = limits;
    others.rates.multiply_adds *= factor;
    others.known_seconds = {};
    const FittedPlan other = RecomputationSearch(graph, plan, others, room).run();
    if (other.missing < best.missing)
      best = RecomputationSearch(graph, other.plan, limits, room).of_given_plan();
  }
  best.bound =
      bound_of_plans(graph, plan, limits,
                     step_times(graph, plan, limits.batch, limits.rates, limits.known_seconds));
  return best;
}

double pass_seconds(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits) {
  return RecomputationSearch(graph, plan, limits, limits.room).of_given_plan().seconds.value();
}

FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         const DeviceRoom& room, Device device) {
  const Allocator& memory = device.memory();
  PassLimits limits{
      .batch = batch, .room = room.bytes, .slots = room.slots, .rounded = [&](uint64_t bytes) {
        return memory.rounded(bytes);
      }};
  const uint64_t idle = room.weights + room.slots;
  const uint64_t peak = predict_peak(graph, plan, batch, limits.rounded);
  if (peak + idle <= room.bytes)
    return {.plan = plan, .peak = peak, .on_device = peak, .room = room.bytes, .slots = room.slots};
  const Workspace& workspace = device.workspace();
  const uint64_t part = room.bytes / kRoomParts;
  limits.room = room.bytes - (workspace.allows(part) ? part : workspace.available());
  limits.rates = device_rates(device);
  limits.known_seconds = known_seconds_beside(limits.room, device);
  return fit_plan(graph, plan, limits);
}

// The workspace takes a little less than its part (Workspace::room()).
KnownSeconds known_seconds_beside(uint64_t room, Device device) {
  return known_seconds(device, room / kRoomParts);
}

uint64_t device_weights(const Graph& graph, Device device) {
  if (!tensors_can_leave(device)) return 0;
  return idle_weight_bytes(
      graph, [&](uint64_t bytes) { return device.memory().rounded(bytes); },
      smallest_outside(device));
}

int64_t parts_on_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                        const DeviceRoom& room, Device device) {
  const auto rounded = [&](uint64_t bytes) { return device.memory().rounded(bytes); };
  const bool backward = plan.options.backward;
  const uint64_t bytes = backward ? room.for_pass() : beside(room.bytes, room.weights + room.slots);
  const int64_t most = parts_that_fit(graph, plan, batch, bytes, rounded);
  if (!kHasDevices || most == 1 || !backward || room.for_pass() > room.bytes / 2) return most;
  std::optional<std::pair<double, int64_t>> best;  // seconds and parts
  for (int64_t parts = 1;; parts = std::min(2 * parts, most)) {
    const int64_t samples = ceil_div(batch, parts);
    FittedPlan fitted = fit_to_device(graph, plan, samples, room, device);
    if (!fitted.seconds)
      fitted.seconds = pass_seconds(graph, plan,
                                    {.batch = samples,
                                     .room = UINT64_MAX,
                                     .rates = device_rates(device),
                                     .rounded = rounded,
                                     .known_seconds = known_seconds(device)});
    const double seconds = static_cast<double>(parts) * *fitted.seconds;
    if (fitted.missing == 0 && (!best || seconds < best->first)) best = {seconds, parts};
    if (parts == most) break;
  }
  return best ? best->second : most;
}

}  // namespace kaiseki::nn
