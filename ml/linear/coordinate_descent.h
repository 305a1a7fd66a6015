// SPDX-License-Identifier: MIT
// Coordinate descent for the elastic net (Friedman, Hastie, Tibshirani, "Regularization paths for
// generalized linear models via coordinate descent", 2010). It stops when the duality gap is small.
#pragma once

#include <cstdint>

#include "ml/linear/linear_system.h"

namespace kaiseki::ml {

/// Minimizes |y - x w|^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2.
struct DescentProblem {
  double l1 = 0, l2 = 0;
  bool positive = false;  // w >= 0
  int64_t max_iter = 1000;
  double tol = 1e-4;  // of the duality gap, relative to |y|^2
};

struct DescentResult {
  std::vector<double> weights;  // [features]
  int64_t iterations = 0;       // passes over the features
  double gap = 0;
  bool converged = false;
};

/// Uses the Gram matrix of the data, for few features. Each step reads one row of it.
DescentResult descend_by_gram(DoubleMatrix& gram, const RegressionData& data, int64_t output,
                              const DescentProblem& problem);
/// Uses the residuals, for more features than samples. `columns` is x transposed, without the
/// means, f32 [features, samples].
DescentResult descend_by_residuals(const Tensor& columns, const RegressionData& data,
                                   int64_t output, const DescentProblem& problem);

}  // namespace kaiseki::ml
