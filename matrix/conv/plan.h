// SPDX-License-Identifier: MIT
// ConvPlan: the solvers for a convolution in order of preference, and the number of pieces of the
// minibatch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Images first to last - 1 of a convolution. The tensors are views of those of `args`.
struct ImageRange {
  ImageRange(const ConvProblem& whole, const ConvArgs& all, int64_t first, int64_t last)
      : problem(whole),
        args(all),
        x(all.x->slice(0, first, last - first)),
        y(all.y->slice(0, first, last - first)) {
    problem.n = last - first;
    args.x = &x, args.y = &y;
    if (first > 0) args.beta = 1;
  }
  ImageRange(const ImageRange&) = delete;
  ConvProblem problem;
  ConvArgs args;

 private:
  Tensor x, y;
};

struct ConvPlan {
  std::vector<const ConvSolver*> order;  // the first solver that has room and is not refused runs
  int64_t pieces = 1;  // pieces of the minibatch; their sizes differ by at most one image
  std::vector<uint64_t> wanted{};  // workspace sizes in bytes that would allow a better plan
  /// tuning_choice_version() and workspace at the time of planning.
  uint64_t generation = 0, available = 0;
  bool settled = true;  // nothing is left to measure
};

/// Returns the plan for the available workspace by the known results. Returns nullptr if the policy
/// wants a measurement first. The plan is cached until the workspace or the known results change.
std::shared_ptr<const ConvPlan> plan_for(Backend& backend, const ConvProblem& problem);

struct MeasuredPlan {
  std::shared_ptr<const ConvPlan> plan;
  bool computed;  // the measurement has already computed the output
};
/// Makes the measurements that the policy wants, on these tensors, and returns the plan.
MeasuredPlan measure_plan(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

}  // namespace kaiseki::conv
