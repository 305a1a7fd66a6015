// SPDX-License-Identifier: MIT
// Measures the solvers of a convolution on the tensors that it is about to run on.
#pragma once

#include <vector>

#include "matrix/backend.h"
#include "matrix/tuning_file.h"

namespace kaiseki {

/// Milliseconds (median of three runs after a first one) and workspace of every solver that can do
/// it, in the backend's order. Left out: what has no room, what the driver refuses, and what
/// computes wrong values. A solver that needs over 1.5 times the best (4 times at first) is not run
/// again; one that is hopeless on a single image is not run on all, and its time is an estimate.
/// Writes the output, which has to be computed again; a filter's gradient is written elsewhere.
/// Tensors as for ConvSolver::run().
std::vector<TuningResult> measure_convolution(Backend& backend, const ConvProblem& problem,
                                              const ConvArgs& args);

}  // namespace kaiseki
