// SPDX-License-Identifier: MIT
#include "ml/linear/elastic_net.h"

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/real_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

MlSet named_set(const std::string& name) {
  if (name == "tall") return regression_set(80, 7, 1, 10);
  if (name == "wide") return regression_set(12, 30, 1, 11);
  if (name == "outputs") return regression_set(60, 5, 3, 12);
  if (name == "many") return regression_set(400, 150, 2, 14);
  return real_targets(name);
}

void check_net(ElasticNet&& model, const MlSet& set, const MlCases& cases,
               const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(model.converged());
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-4);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-4);
  CHECK(model.score(set.x, set.y) ==
        doctest::Approx(cases[name + ".score"].values[0]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("Lasso and ElasticNet: equal scikit-learn's within 1e-4, by both forms of descent") {
  const MlCases cases("linear.txt");
  for (const std::string name : {"tall", "wide", "outputs", "many", "iris", "digits", "cancer"}) {
    const MlSet set = named_set(name);
    const std::pair<std::string, double> alphas[] = {{"0.01", 0.01}, {"0.1", 0.1}};
    for (const auto& alpha : alphas) {
      check_net(Lasso({.alpha = alpha.second, .max_iter = 100000, .tol = 1e-9}), set, cases,
                name + ".lasso." + alpha.first);
      check_net(ElasticNet({.alpha = alpha.second, .max_iter = 100000, .tol = 1e-9}), set, cases,
                name + ".net." + alpha.first);
    }
    check_net(Lasso({.alpha = 0.01, .max_iter = 100000, .tol = 1e-9, .positive = true}), set, cases,
              name + ".positive");
  }
}

TEST_CASE("Lasso: a large alpha, a constant feature, few passes, and devices") {
  const MlSet set = named_set("tall");
  for (Device device : all_devices()) {
    const MlSet there = set.to(device);
    Lasso model({.alpha = 100});
    model.fit(there.x, there.y);
    CHECK(difference(model.coefficients(), std::vector<double>(7, 0.0)) == 0);
    CHECK(model.predict(there.x).device() == device);
  }
  Lasso constant({.alpha = 0.01});
  constant.fit(floats({1, 5, 2, 5, 3, 5}, {3, 2}), floats({1, 2, 3}, {3}));
  CHECK(constant.coefficients()(1) == 0);
  CHECK(constant.coefficients()(0) > 0.9);
  Lasso hasty({.alpha = 1e-6, .max_iter = 1, .tol = 1e-12});
  hasty.fit(set.x, set.y);
  CHECK(hasty.iterations() == 1);
  CHECK(!hasty.converged());
}

TEST_CASE("Lasso and ElasticNet: errors") {
  CHECK_THROWS_AS(Lasso({.alpha = -1}), ShapeError);
  CHECK_THROWS_AS(ElasticNet({.l1_ratio = 2}), ShapeError);
  CHECK_THROWS_AS(ElasticNet({.max_iter = 0}), ShapeError);
  ElasticNet model;
  CHECK_THROWS_AS(model.predict(floats({1}, {1, 1})), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({1, 2}, {2, 1}), floats({1}, {1})), ShapeError);
}
