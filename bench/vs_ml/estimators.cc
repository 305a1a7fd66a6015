// SPDX-License-Identifier: MIT
#include "bench/vs_ml/estimators.h"

#include <memory>

#include "ml/linear/logistic_regression.h"

namespace kaiseki::bench {
namespace {

Outcome logistic(const Data& data) {
  const auto model = std::make_shared<ml::LogisticRegression>();
  model->fit(data.x, data.y);
  return {model->iterations(), [model, data] { return model->score(data.x, data.y); }};
}

}  // namespace

const std::vector<Estimator>& estimators() {
  static const std::vector<Estimator> all = {
      {"logistic", logistic},
  };
  return all;
}

}  // namespace kaiseki::bench
