// SPDX-License-Identifier: MIT
// Runs a convolution's solvers in the order of its plan, until one has room and is not refused.
#pragma once

#include "matrix/conv/plan.h"
#include "matrix/memory/workspace.h"

namespace kaiseki::conv {

/// The solver's filter, where it was prepared for these weights before.
Workspace::Use prepare(Backend& backend, const ConvSolver& solver, const ConvProblem& problem,
                       const ConvArgs& args);

/// The whole problem, or a piece of it. Throws as run_convolution().
void run_plan(Backend& backend, const ConvPlan& plan, const ConvProblem& problem,
              const ConvArgs& args);

}  // namespace kaiseki::conv
