// SPDX-License-Identifier: MIT
#include "ml/linear/linear_regression.h"

#include "ml/linear/linear_system.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {

void LinearRegression::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, "LinearRegression");
  check_targets(y, x, "LinearRegression");
  const RegressionData data(x, y, options_.fit_intercept);
  std::optional<std::vector<double>> weights;
  if (options_.solver == LeastSquaresSolver::automatic && data.samples > data.features)
    weights = solve_by_cholesky(data, 0);
  if (!weights) weights = solve_by_qr(data, 0);
  function_ = LinearFunction({data.outputs, data.features, *weights, intercepts(data, *weights)},
                             y.rank() == 1, x.device());
}

double LinearRegression::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

}  // namespace kaiseki::ml
