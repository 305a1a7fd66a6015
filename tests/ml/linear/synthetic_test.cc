// SPDX-License-Identifier: MIT
// The convex estimators on 20 sets of different shapes, against scikit-learn.
#include "ml/linear/elastic_net.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

template <typename Model>
void check_set(Model&& model, const MlSet& set, const MlCases& cases, const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-4);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-4);
  CHECK(model.score(set.x, set.y) ==
        doctest::Approx(cases[name + ".score"].values[0]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("linear estimators: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("linear_sets.txt");
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i);
    const auto seed = static_cast<uint32_t>(7 * i);
    const MlSet targets = regression_set(30 + 37 * i, 2 + i, 1 + i % 3, 100 + seed);
    check_set(LinearRegression(), targets, cases, name + ".ols");
    check_set(Ridge({.alpha = 0.3 * (i + 1)}), targets, cases, name + ".ridge");
    ElasticNetOptions net;
    net.alpha = 0.02;
    net.l1_ratio = 0.05 * (i + 1);
    net.tol = 1e-9;
    net.max_iter = 100000;
    check_set(ElasticNet(net), targets, cases, name + ".net");
    LogisticRegressionOptions logistic;
    logistic.c = 0.1 * (i + 1);
    logistic.tol = 1e-6;
    logistic.max_iter = 5000;
    check_set(LogisticRegression(logistic),
              blobs_set(40 + 31 * i, 2 + i % 7, 2 + i % 4, 300 + seed), cases, name + ".logistic");
  }
}
