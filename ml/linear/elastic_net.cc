// SPDX-License-Identifier: MIT
#include "ml/linear/elastic_net.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "matrix/threads.h"
#include "ml/linear/coordinate_descent.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

/// x transposed, without the means: f32 [features, samples].
Tensor centered_columns(const RegressionData& data) {
  const int64_t n = data.samples;
  Tensor columns({data.features, n}, DType::f32, Device::cpu());
  float* to = columns.overwrite<float>();
  parallel_for(data.features, 16, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t i = 0; i < n; ++i) to[j * n + i] = static_cast<float>(data.centered(i, j));
  });
  return columns;
}

}  // namespace

ElasticNet::ElasticNet(ElasticNetOptions options) : options_(options) {
  const std::string_view name = "ElasticNet";
  require(options.alpha >= 0 && std::isfinite(options.alpha), name,
          "expected an alpha of 0 or more, got ", options.alpha);
  require(options.l1_ratio >= 0 && options.l1_ratio <= 1, name,
          "expected an l1_ratio from 0 to 1, got ", options.l1_ratio);
  require(options.max_iter > 0, name, "expected a max_iter of 1 or more, got ", options.max_iter);
  require(options.tol >= 0, name, "expected a tol of 0 or more, got ", options.tol);
}

void ElasticNet::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, "ElasticNet");
  check_targets(y, x, "ElasticNet");
  const RegressionData data(x, y, options_.fit_intercept);
  const double penalty = options_.alpha * static_cast<double>(data.samples);
  const DescentProblem problem{penalty * options_.l1_ratio, penalty * (1 - options_.l1_ratio),
                               options_.positive, options_.max_iter, options_.tol};
  std::optional<DoubleMatrix> gram;
  Tensor columns;
  if (data.samples >= data.features)
    gram = gram_matrix(data);
  else
    columns = centered_columns(data);
  std::vector<double> weights;
  iterations_ = 0;
  converged_ = true;
  for (int64_t o = 0; o < data.outputs; ++o) {
    const DescentResult result = gram ? descend_by_gram(*gram, data, o, problem)
                                      : descend_by_residuals(columns, data, o, problem);
    weights.insert(weights.end(), result.weights.begin(), result.weights.end());
    iterations_ = std::max(iterations_, result.iterations);
    converged_ = converged_ && result.converged;
  }
  function_ = LinearFunction({data.outputs, data.features, weights, intercepts(data, weights)},
                             y.rank() == 1, x.device());
}

double ElasticNet::score(const Tensor& x, const Tensor& y) const { return r2_score(y, predict(x)); }

}  // namespace kaiseki::ml
