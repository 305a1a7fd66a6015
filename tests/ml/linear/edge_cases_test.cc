// SPDX-License-Identifier: MIT
// Each linear estimator with unusual input, and the faults of Tempura's checks.
#include <iostream>
#include <sstream>

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

TEST_CASE("linear estimators: weights that f32 cannot hold are an error") {
  const Tensor x = floats({1e-40, 2e-40, 4e-40}, {3, 1}), y = floats({1, 2, 4}, {3});
  LinearRegression model;
  CHECK_THROWS_WITH_AS(model.fit(x, y),
                       "[linear] the weights are too large for f32; scale the features", Error);
  CHECK_THROWS_AS(model.predict(x), ShapeError);
}

TEST_CASE("linear estimators: x of very large and very small numbers") {
  for (double scale : {1e-30, 1e30}) {
    std::vector<double> values = wide_values(edge_set(60).x);
    for (double& value : values) value *= scale;
    const Tensor x = floats(values, {60, 4}), y = edge_set(60).y;
    const MlSet targets = regression_set(60, 4, 1, 3);
    LogisticRegressionOptions free;
    free.penalty = LogisticPenalty::none;
    LogisticRegression logistic(free);
    logistic.fit(x, y);
    CHECK(std::isfinite(logistic.score(x, y)));
    CHECK(logistic.converged() == (scale < 1));
    LinearRegression squares;
    squares.fit(x, targets.y);
    CHECK(std::isfinite(squares.score(x, targets.y)));
    Ridge ridge;
    ridge.fit(x, targets.y);
    CHECK(std::isfinite(ridge.score(x, targets.y)));
  }
}

TEST_CASE("Tempura's fault: fit printed to the console") {
  const MlSet set = edge_set(60);
  std::ostringstream printed;
  std::streambuf *out = std::cout.rdbuf(printed.rdbuf()), *err = std::cerr.rdbuf(printed.rdbuf());
  LogisticRegression().fit(set.x, set.y);
  SGDClassifier().fit(set.x, set.y);
  std::cout.rdbuf(out);
  std::cerr.rdbuf(err);
  CHECK(printed.str().empty());
}

TEST_CASE("Tempura's fault: `center` of Logistic had no effect") {
  // Both classes are far from 0, so a function without an intercept cannot separate them.
  const Tensor x = floats({11, 12, 13, 14}, {4, 1}), y = integers({0, 0, 1, 1}, {4});
  LogisticRegressionOptions origin;
  origin.fit_intercept = false;
  LogisticRegression with, without(origin);
  with.fit(x, y);
  without.fit(x, y);
  CHECK(with.score(x, y) == 1);
  CHECK(without.score(x, y) == 0.5);
}
