// SPDX-License-Identifier: MIT
#include "matrix/conv/plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "matrix/ceil_div.h"
#include "matrix/conv/tuning.h"
#include "matrix/memory/workspace.h"

namespace kaiseki::conv {
namespace {

/// Makes the plan of one convolution.
class ConvPlanner {
 public:
  ConvPlanner(Backend& backend, const ConvProblem& problem) : backend_(backend), problem_(problem) {
    plan_.generation = tuning_choice_version();
    plan_.available = backend_.device().workspace().available();
  }

  /// Solvers without room for the whole minibatch are measured on parts of it, with `args`. If
  /// `args` is nullptr, nothing is measured. The plan is then not settled if a measurement is
  /// needed.
  ConvPlan make(const ConvArgs* args) {
    const auto candidates = conv_candidates(backend_, problem_);
    for (const ConvCandidate& candidate : candidates) plan_.order.push_back(candidate.solver);
    const auto whole = std::ranges::find_if(
        candidates, [&](const ConvCandidate& c) { return c.workspace <= plan_.available; });
    if (whole != candidates.end()) least_ = whole->milliseconds;
    const bool measures = measures_convolution(problem_);
    for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
      const bool untried = !candidate->is_known() && measures;
      if (candidate->workspace <= plan_.available || (candidate > whole && !untried)) continue;
      want(*candidate->solver);
      if (const int64_t pieces = fitting_pieces(*candidate->solver))
        try_pieces(*candidate->solver, pieces, args);
    }
    return std::move(plan_);
  }

 private:
  ConvProblem of_size(int64_t n) const {
    ConvProblem part = problem_;
    part.n = n;
    return part;
  }
  int64_t size_of(int64_t pieces) const { return ceil_div(problem_.n, pieces); }

  void want(const ConvSolver& solver) {
    for (int64_t pieces = 1; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      const uint64_t bytes = solver.applicable(part) ? solver.workspace_bytes(part) : 0;
      if (bytes > plan_.available) plan_.wanted.push_back(bytes);
    }
  }

  /// The smallest number of pieces with enough room, or 0 if there is none.
  int64_t fitting_pieces(const ConvSolver& solver) const {
    for (int64_t pieces = 2; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      if (!solver.applicable(part)) return 0;
      if (solver.workspace_bytes(part) <= plan_.available) return pieces;
    }
    return 0;
  }

  std::optional<double> time_of_piece(const ConvProblem& part, const ConvSolver& solver,
                                      const ConvArgs* args) {
    if (!would_measure_solver(backend_, part, solver)) return known_time(backend_, part, solver);
    plan_.settled = args != nullptr && plan_.settled;
    if (!args) return {};
    const ImageRange piece(problem_, *args, 0, part.n);
    return measure_solver(backend_, part, piece.args, solver);
  }

  void try_pieces(const ConvSolver& solver, int64_t pieces, const ConvArgs* args) {
    const auto time = time_of_piece(of_size(size_of(pieces)), solver, args);
    if (!time) return;
    const double all = static_cast<double>(pieces) * *time;
    if (least_ && all >= *least_) return;
    least_ = all;
    plan_.pieces = pieces;
    auto& order = plan_.order;
    std::rotate(order.begin(), std::ranges::find(order, &solver),
                std::ranges::find(order, &solver) + 1);
  }

  Backend& backend_;
  const ConvProblem problem_;
  std::optional<double> least_;  // milliseconds
  ConvPlan plan_;
};

/// The plans of this process, by problem.
class PlanCache {
 public:
  /// Returns the cached plan if it is still valid.
  std::shared_ptr<const ConvPlan> find(Backend& backend, const ConvProblem& problem) {
    const uint64_t available = backend.device().workspace().available();
    std::lock_guard lock(mutex_);
    const auto found = all_.find(conv_key(backend, problem));
    if (found == all_.end()) return nullptr;
    const ConvPlan& plan = *found->second;
    const bool holds =
        plan.settled && plan.generation == tuning_choice_version() && plan.available == available;
    return holds ? found->second : nullptr;
  }

  std::shared_ptr<const ConvPlan> put(Backend& backend, const ConvProblem& problem, ConvPlan plan) {
    std::lock_guard lock(mutex_);
    return all_[conv_key(backend, problem)] = std::make_shared<const ConvPlan>(std::move(plan));
  }

 private:
  std::mutex mutex_;
  std::map<ConvKey, std::shared_ptr<const ConvPlan>> all_;
};

PlanCache& plan_cache() {
  static auto* one = new PlanCache;
  return *one;
}

}  // namespace

std::shared_ptr<const ConvPlan> plan_for(Backend& backend, const ConvProblem& problem) {
  if (auto kept = plan_cache().find(backend, problem)) return kept;
  if (!convolution_is_measured(backend, problem)) return nullptr;
  ConvPlan plan = ConvPlanner(backend, problem).make(nullptr);
  if (!plan.settled) return nullptr;
  return plan_cache().put(backend, problem, std::move(plan));
}

MeasuredPlan measure_plan(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  const ConvTuning tuning = measure_convolution(backend, problem, args);
  // Measuring parts of the minibatch would overwrite an output that is already computed.
  ConvPlan plan = ConvPlanner(backend, problem).make(tuning.computed ? nullptr : &args);
  plan.settled = plan.settled && tuning.settled;
  return {plan_cache().put(backend, problem, std::move(plan)), tuning.computed};
}

}  // namespace kaiseki::conv
