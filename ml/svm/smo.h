// SPDX-License-Identifier: MIT
// Sequential minimal optimization of the dual problem of support vector machines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ml/svm/kernel_cache.h"

namespace kaiseki::ml {

/// Minimizes b^T K b / 2 - b^T linear, with the sum of b equal to 0 and lower <= b <= upper. All
/// vectors have one element for each variable of the rows. Each interval contains 0. With the signs
/// y = +1 or -1 of two classes, b = y alpha.
struct SmoProblem {
  std::vector<double> linear, lower, upper;
  double tolerance = 1e-3;               // of the gradient
  std::optional<int64_t> max_iter = {};  // without a value: max(10^7, 100 variables)
};

struct SmoSolution {
  std::vector<double> coefficients;  // b
  double intercept = 0;
  int64_t iterations = 0;
  bool converged = false;
};

/// Selects the pair of variables by second-order information (Fan, Chen, Lin, "Working set
/// selection using second order information for training support vector machines", 2005). After
/// many iterations, variables that stay at a limit are set aside until the others have converged.
/// The result does not depend on the number of threads.
SmoSolution minimize(const SmoProblem& problem, PairRows& rows);

}  // namespace kaiseki::ml
