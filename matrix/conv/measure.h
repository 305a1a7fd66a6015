// SPDX-License-Identifier: MIT
// Measures the solvers of a convolution on the tensors that it is about to run on.
#pragma once

#include <vector>

#include "matrix/backend.h"
#include "matrix/tuning_file.h"

namespace kaiseki {

/// Milliseconds of a solver that computes wrong values, and of one whose kernels the driver
/// refuses.
constexpr double kWrongMilliseconds = 1e300, kRefusedMilliseconds = 1e200;

/// Milliseconds (median of three warm runs) and workspace of every solver that can do it, in the
/// backend's order; nothing
/// where there is no room for one of them, as another time there may be. A solver that needs over
/// 1.5 times the best is not run again; one that by a single image would need over 8 times the best
/// and a second is not run on all, and its time is an estimate. Writes the output, which has to be
/// computed again; a filter's gradient is written elsewhere. Tensors as for ConvSolver::run().
std::vector<TuningResult> measure_convolution(Backend& backend, const ConvProblem& problem,
                                              const ConvArgs& args);

}  // namespace kaiseki
