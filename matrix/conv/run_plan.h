// SPDX-License-Identifier: MIT
// Runs a convolution's solvers in the order of its plan until one has room and is not refused.
#pragma once

#include "matrix/conv/plan.h"
#include "matrix/memory/workspace.h"

namespace kaiseki::conv {

/// Returns the solver's transformed filter if these weights were used before.
Workspace::HeldBlock prepare(Backend& backend, const ConvSolver& solver, const ConvProblem& problem,
                             const ConvArgs& args);

/// Runs the whole problem or a part of its images. Throws like run_convolution().
void run_plan(Backend& backend, const ConvPlan& plan, const ConvProblem& problem,
              const ConvArgs& args);

}  // namespace kaiseki::conv
