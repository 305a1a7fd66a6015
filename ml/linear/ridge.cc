// SPDX-License-Identifier: MIT
#include "ml/linear/ridge.h"

#include <cmath>

#include "ml/linear/linear_system.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {

Ridge::Ridge(RidgeOptions options) : options_(options) {
  require(options.alpha >= 0 && std::isfinite(options.alpha), "Ridge",
          "expected an alpha of 0 or more, got ", options.alpha);
}

void Ridge::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, "Ridge");
  check_targets(y, x, "Ridge");
  const RegressionData data(x, y, options_.fit_intercept);
  std::optional<std::vector<double>> weights;
  if (data.samples >= data.features)
    weights = solve_by_cholesky(data, options_.alpha);
  else if (options_.alpha > 0)
    weights = solve_by_rows(data, options_.alpha);
  if (!weights) weights = solve_by_qr(data, options_.alpha);
  function_ = LinearFunction({data.outputs, data.features, *weights, intercepts(data, *weights)},
                             y.rank() == 1, x.device());
}

double Ridge::score(const Tensor& x, const Tensor& y) const { return r2_score(y, predict(x)); }

}  // namespace kaiseki::ml
