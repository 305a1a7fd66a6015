// SPDX-License-Identifier: MIT
#include "nn/plan_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "matrix/memory/out_of_core.h"
#include "nn/memory_model.h"

namespace kaiseki::nn {
namespace {

/// A value at the peak, and the time of its forward step.
struct Again {
  double bytes = 0, seconds = 0;
};

/// The values that can be computed again. Values with the shortest time for a byte come first.
std::vector<Again> cheapest_first(const ExecutionPlan& plan, const FullestStep& fullest,
                                  const std::vector<StepTime>& times) {
  std::vector<std::optional<size_t>> producers(plan.uses.size());
  for (size_t i = 0; i < plan.steps.size(); ++i)
    producers[static_cast<size_t>(plan.steps[i].output)] = i;
  std::vector<Again> all;
  for (const FullestStep::Droppable& one : fullest.droppable)
    all.push_back({static_cast<double>(one.bytes), times[*producers[one.value]].forward});
  std::ranges::sort(all, [](const Again& a, const Again& b) {
    return a.seconds * b.bytes < b.seconds * a.bytes;
  });
  return all;
}

/// A division of the bytes beyond the room between computing again and copying.
struct Division {
  double again = 0;  // seconds of computing again
  double bytes = 0;  // bytes that leave and come back
};

class BoundSearch {
 public:
  BoundSearch(double compute, const std::optional<LinkRates>& link)
      : compute_(compute), link_(link) {}

  /// Considers all divisions between these two. Both numbers change linearly between them.
  void consider(const Division& from, const Division& to) {
    consider(from);
    consider(to);
    if (!link_) return;
    // Copying takes longer at one end, and computing at the other.
    const double begin = copying(from) - computing(from), end = copying(to) - computing(to);
    if (begin <= 0 || end >= 0) return;
    const double share = begin / (begin - end);
    consider({std::lerp(from.again, to.again, share), std::lerp(from.bytes, to.bytes, share)});
  }
  const std::optional<double>& best() const { return best_; }

 private:
  void consider(const Division& division) {
    if (!link_ && division.bytes > 0) return;
    const double in_turn =
        computing(division) +
        (link_ ? division.bytes / link_->to_host + division.bytes / link_->to_device : 0);
    const bool overlaps = link_ && link_->overlaps;
    best_ = std::min(best_.value_or(std::numeric_limits<double>::infinity()),
                     overlaps ? std::max(computing(division), copying(division)) : in_turn);
  }
  double computing(const Division& division) const {
    return compute_ + division.again + (link_ ? 2 * link_->slows * division.bytes : 0);
  }
  /// The seconds of copying in the slower direction.
  double copying(const Division& division) const {
    return division.bytes / std::min(link_->to_host, link_->to_device);
  }

  const double compute_;
  const std::optional<LinkRates>& link_;
  std::optional<double> best_;
};

}  // namespace

std::optional<double> bound_of_plans(const Graph& graph, const ExecutionPlan& plan,
                                     const PassLimits& limits, const std::vector<StepTime>& times) {
  double compute = 0, excess = -static_cast<double>(limits.room);
  for (size_t i = 0; i < plan.steps.size(); ++i)
    compute += times[i].forward * (plan.steps[i].recomputed ? 2 : 1) + times[i].backward;
  const FullestStep fullest = find_fullest_step(graph, plan, limits.batch, limits.rounded);
  excess += static_cast<double>(fullest.bytes);
  if (limits.rates.link)
    excess += static_cast<double>(
        limits.slots + idle_weight_bytes(graph, limits.rounded, smallest_outside(limits.room)));
  // The step's own tensors may cross the link in pieces, beside its computing.
  if (fullest.own > limits.room) excess -= static_cast<double>(fullest.own);
  if (excess <= 0) return compute;
  BoundSearch search(compute, limits.rates.link);
  Division now{.bytes = excess};
  search.consider(now, now);
  for (const Again& one : cheapest_first(plan, fullest, times)) {
    if (now.bytes <= 0) break;
    const double bytes = std::min(now.bytes, one.bytes);
    const Division next{now.again + one.seconds * bytes / one.bytes, now.bytes - bytes};
    search.consider(now, next);
    now = next;
  }
  return search.best();
}

}  // namespace kaiseki::nn
