// SPDX-License-Identifier: MIT
// Plans: the solvers that may compute a convolution, in their order, and the pieces of the
// minibatch for which they have room.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "matrix/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Images first to last - 1 of a convolution. The tensors are those of `args`.
struct Piece {
  Piece(const ConvProblem& whole, const ConvArgs& all, int64_t first, int64_t last)
      : problem(whole),
        args(all),
        x(all.x->slice(0, first, last - first)),
        y(all.y->slice(0, first, last - first)) {
    problem.n = last - first;
    args.x = &x, args.y = &y;
    if (first > 0) args.beta = 1;
  }
  Piece(const Piece&) = delete;
  ConvProblem problem;
  ConvArgs args;

 private:
  Tensor x, y;
};

struct ConvPlan {
  std::vector<const ConvSolver*> order;  // the first that has room and is not refused runs
  int64_t pieces = 1;  // of the minibatch, each as large as the others or one less
};

/// A plan, what it was made for, and the sizes of workspace that would allow a better one.
struct Planned {
  ConvPlan plan;
  std::vector<uint64_t> wanted;
  uint64_t generation = 0, available = 0;
  bool settled = false;
};

/// The plan for the workspace that there is; kept until that, or what was measured, changes.
/// Measures the convolution where that is to be done, and sets `computed` when this left the output
/// as it is to be.
std::shared_ptr<const Planned> find_plan(Backend& backend, const ConvProblem& problem,
                                         const ConvArgs& args, bool& computed);

/// The same where no tensors are needed for it, because nothing is left to be measured and the
/// fastest solver has room; else nullptr.
std::shared_ptr<const Planned> find_plan_unmeasured(Backend& backend, const ConvProblem& problem);

}  // namespace kaiseki::conv
