// SPDX-License-Identifier: MIT
#include "matrix/conv/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "matrix/conv/tuning.h"
#include "matrix/memory/workspace.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

class Planner {
 public:
  Planner(Backend& backend, const ConvProblem& problem, const ConvArgs& args)
      : backend_(backend), problem_(problem), args_(args) {}

  /// Sets `computed` when measuring left the output as it is to be.
  Planned make(bool& computed) {
    const ConvTuning tuning = tune_convolution(backend_, problem_, args_);
    computed = tuning.computed, planned_.settled = tuning.settled;
    planned_.generation = conv_generation();
    planned_.available = backend_.device().workspace().available();
    const auto candidates = conv_candidates(backend_, problem_);
    for (const ConvCandidate& candidate : candidates)
      planned_.plan.order.push_back(candidate.solver);
    const auto whole = std::ranges::find_if(
        candidates, [&](const ConvCandidate& c) { return c.workspace <= planned_.available; });
    if (whole != candidates.end()) least_ = whole->milliseconds;
    for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
      const bool untried = std::isinf(candidate->milliseconds) && measures_convolution(problem_);
      if (candidate->workspace <= planned_.available || (candidate > whole && !untried)) continue;
      want(*candidate->solver);
      if (computed)  // measuring pieces would write the output again
        planned_.settled = false;
      else
        try_pieces(*candidate->solver);
    }
    return std::move(planned_);
  }

 private:
  ConvProblem of_size(int64_t n) const {
    ConvProblem part = problem_;
    part.n = n;
    return part;
  }
  int64_t size_of(int64_t pieces) const { return (problem_.n + pieces - 1) / pieces; }

  void want(const ConvSolver& solver) {
    for (int64_t pieces = 1; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      const uint64_t bytes = solver.applicable(part) ? solver.workspace_bytes(part) : 0;
      if (bytes > planned_.available) planned_.wanted.push_back(bytes);
    }
  }

  void try_pieces(const ConvSolver& solver) {
    int64_t pieces = 2;
    for (; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      if (!solver.applicable(part)) return;
      if (solver.workspace_bytes(part) <= planned_.available) break;
    }
    if (pieces > problem_.n) return;
    const ConvProblem part = of_size(size_of(pieces));
    Piece piece(problem_, args_, 0, part.n);
    const double all =
        static_cast<double>(pieces) * measured_time(backend_, part, piece.args, solver);
    if (all >= least_) return;
    least_ = all;
    planned_.plan.pieces = pieces;
    auto& order = planned_.plan.order;
    std::rotate(order.begin(), std::ranges::find(order, &solver),
                std::ranges::find(order, &solver) + 1);
  }

  Backend& backend_;
  const ConvProblem problem_;
  const ConvArgs args_;
  double least_ = std::numeric_limits<double>::infinity();
  Planned planned_;
};

using PlanKey = std::tuple<Backend*, int, ConvProblem>;

PlanKey plan_key(Backend& backend, const ConvProblem& problem) {
  return {&backend, backend.device().is_cpu() ? thread_count() : 0, problem};
}

struct Plans {
  std::mutex mutex;
  std::map<PlanKey, std::shared_ptr<const Planned>> all;
};

Plans& plans() {
  static auto* one = new Plans;
  return *one;
}

/// The plan that is kept, if it still holds.
std::shared_ptr<const Planned> kept_plan(Backend& backend, const ConvProblem& problem) {
  const uint64_t available = backend.device().workspace().available();
  std::lock_guard lock(plans().mutex);
  const auto found = plans().all.find(plan_key(backend, problem));
  const bool holds = found != plans().all.end() && found->second->settled &&
                     found->second->generation == conv_generation() &&
                     found->second->available == available;
  return holds ? found->second : nullptr;
}

std::shared_ptr<const Planned> keep_plan(Backend& backend, const ConvProblem& problem,
                                         Planned planned) {
  std::lock_guard lock(plans().mutex);
  return plans().all[plan_key(backend, problem)] =
             std::make_shared<const Planned>(std::move(planned));
}

}  // namespace

std::shared_ptr<const Planned> find_plan(Backend& backend, const ConvProblem& problem,
                                         const ConvArgs& args, bool& computed) {
  if (auto kept = kept_plan(backend, problem)) return kept;
  return keep_plan(backend, problem, Planner(backend, problem, args).make(computed));
}

std::shared_ptr<const Planned> find_plan_unmeasured(Backend& backend, const ConvProblem& problem) {
  if (auto kept = kept_plan(backend, problem)) return kept;
  if (!convolution_known(backend, problem)) return nullptr;
  Planned planned;
  planned.generation = conv_generation();
  planned.available = backend.device().workspace().available();
  planned.settled = true;
  const bool measures = measures_convolution(problem);
  for (const ConvCandidate& candidate : conv_candidates(backend, problem)) {
    const bool first = planned.plan.order.empty();
    const bool untried = std::isinf(candidate.milliseconds) && measures;
    if (candidate.workspace > planned.available && (first || untried)) return nullptr;
    planned.plan.order.push_back(candidate.solver);
  }
  return keep_plan(backend, problem, std::move(planned));
}

}  // namespace kaiseki::conv
