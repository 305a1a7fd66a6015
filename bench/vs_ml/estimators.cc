// SPDX-License-Identifier: MIT
#include "bench/vs_ml/estimators.h"

#include <algorithm>
#include <memory>

#include "matrix/ops/reduce.h"
#include "ml/cluster/kmeans.h"
#include "ml/decomposition/pca.h"
#include "ml/ensemble/random_forest.h"
#include "ml/linear/logistic_regression.h"
#include "ml/metrics/classification.h"
#include "ml/mixture/gaussian_mixture.h"
#include "ml/neighbors/kneighbors.h"

namespace kaiseki::bench {
namespace {

Outcome logistic(const Data& data) {
  const auto model = std::make_shared<ml::LogisticRegression>();
  model->fit(data.x, data.y);
  return {model->iterations(), [model, data] { return model->score(data.x, data.y); }};
}

Outcome kmeans(const Data& data) {
  ml::KMeansOptions options;
  options.n_clusters = 10;
  options.n_init = 1;
  options.max_iter = 20;
  options.tol = 0;
  const auto model = std::make_shared<ml::KMeans>(options);
  model->fit(data.x);
  return {model->n_iter(), [model] { return model->inertia(); }};
}

Outcome pca(const Data& data) {
  ml::PCAOptions options;
  options.n_components = std::min<int64_t>(50, data.x.dim(1) / 2);
  const auto model = std::make_shared<ml::PCA>(options);
  model->fit(data.x);
  return {0, [model] { return sum(model->explained_variance_ratio()).item(); }};
}

/// The neighbors of the first samples.
Outcome neighbors(const Data& data) {
  const int64_t queries = std::min<int64_t>(2000, data.x.dim(0));
  const auto model = std::make_shared<ml::KNeighborsClassifier>(
      ml::KNeighborsOptions{.algorithm = ml::NeighborsAlgorithm::brute});
  model->fit(data.x, data.y);
  const Tensor labels = model->predict(data.x.slice(0, 0, queries));
  return {0, [labels, data, queries] {
            return ml::accuracy_score(data.y.slice(0, 0, queries), labels);
          }};
}

/// Full covariances of at most 20 features.
Outcome mixture(const Data& data) {
  ml::GaussianMixtureOptions options;
  options.n_components = 5;
  options.max_iter = 10;
  options.tol = 0;
  if (data.x.dim(1) > 20) options.covariance_type = ml::CovarianceType::diag;
  if (data.x.dim(1) > 20) options.reg_covar = 1e-3;
  const auto model = std::make_shared<ml::GaussianMixture>(options);
  model->fit(data.x);
  return {model->n_iter(), [model] { return model->lower_bound(); }};
}

Outcome forest(const Data& data) {
  ml::RandomForestClassifierOptions options;
  options.n_estimators = 10;
  const auto model = std::make_shared<ml::RandomForestClassifier>(options);
  model->fit(data.x, data.y);
  const int64_t rows = std::min<int64_t>(10000, data.x.dim(0));
  return {0, [model, data, rows] {
            return model->score(data.x.slice(0, 0, rows), data.y.slice(0, 0, rows));
          }};
}

}  // namespace

const std::vector<Estimator>& estimators() {
  static const std::vector<Estimator> all = {
      {"logistic", logistic},   {"kmeans", kmeans},   {"pca", pca},
      {"neighbors", neighbors}, {"mixture", mixture}, {"forest", forest},
  };
  return all;
}

}  // namespace kaiseki::bench
