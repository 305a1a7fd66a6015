// SPDX-License-Identifier: MIT
// Each linear estimator with unusual input, and the faults of Tempura's checks.
#include <cstdio>

#include "ml/linear/elastic_net.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "ml/linear/sgd.h"
#include "tests/support/ml_edges.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("LinearRegression: unusual input") {
  check_regressor_edges([] { return LinearRegression(); });
  check_regressor_edges([] { return LinearRegression({.solver = LeastSquaresSolver::qr}); });
}

TEST_CASE("Ridge: unusual input") {
  check_regressor_edges([] { return Ridge(); });
}

TEST_CASE("Lasso and ElasticNet: unusual input") {
  check_regressor_edges([] { return Lasso({.alpha = 0.01}); });
  check_regressor_edges([] { return ElasticNet({.alpha = 0.01}); });
}

TEST_CASE("SGDRegressor: unusual input") {
  check_regressor_edges([] { return SGDRegressor({.eta0 = 0.001}); });
  check_regressor_edges([] { return SGDRegressor({.loss = SgdLoss::huber, .average = true}); });
}

TEST_CASE("LogisticRegression: unusual input") {
  check_classifier_edges([] { return LogisticRegression(); });
}

TEST_CASE("SGDClassifier: unusual input, for each loss") {
  for (SgdLoss loss : {SgdLoss::hinge, SgdLoss::squared_hinge, SgdLoss::log, SgdLoss::huber})
    check_classifier_edges([&] {
      return SGDClassifier(
          {.loss = loss, .alpha = 0.01, .learning_rate = LearningRate::invscaling, .eta0 = 0.01});
    });
}
