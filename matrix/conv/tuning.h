// SPDX-License-Identifier: MIT
// Measures the solvers of a convolution if the policy wants it.
#pragma once

#include <optional>

#include "matrix/conv/candidates.h"

namespace kaiseki {

struct ConvTuning {
  /// The output is already computed. If false, its values are undefined, but a filter's gradient is
  /// unchanged.
  bool computed = false;
  /// Nothing is left to measure until tuning_choice_version() or the workspace changes.
  bool settled = true;
};
/// Makes the measurements that the policy wants, on these tensors, and stores the results.
ConvTuning measure_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// Returns whether measure_convolution() has nothing to measure now.
bool convolution_is_measured(Backend& backend, const ConvProblem& problem);

/// Returns whether measure_solver() would measure.
bool would_measure_solver(Backend& backend, const ConvProblem& problem, const ConvSolver& solver);
/// Measures one solver and stores the result, if the policy wants it and there may be room. Returns
/// its milliseconds, or no value if it was not timed.
std::optional<double> measure_solver(Backend& backend, const ConvProblem& problem,
                                     const ConvArgs& args, const ConvSolver& solver);

}  // namespace kaiseki
