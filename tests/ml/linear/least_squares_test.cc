// SPDX-License-Identifier: MIT
// LinearRegression and Ridge.
#include <limits>

#include "base/error.h"
#include "matrix/threads.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/ridge.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/real_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

const char* const kSets[] = {"tall",      "wide", "outputs", "long",  "many",
                             "duplicate", "iris", "cancer",  "digits"};

/// The sets of make_ml_linear_cases.py.
MlSet target_set(const std::string& name) {
  if (name == "tall") return regression_set(80, 7, 1, 10);
  if (name == "wide") return regression_set(12, 30, 1, 11);
  if (name == "outputs") return regression_set(60, 5, 3, 12);
  if (name == "long") return regression_set(20000, 4, 1, 13);
  if (name == "many") return regression_set(400, 150, 2, 14);
  if (name == "digits") return real_targets(name);
  std::vector<double> x, y;
  const MlSet from = name == "duplicate" ? regression_set(80, 7, 1, 10) : ml_set(name);
  const std::vector<float> values = from.x.to_vector();
  const int64_t width = from.x.dim(1);
  if (name == "duplicate") {
    for (int64_t i = 0; i < 80; ++i)
      for (int64_t j = 0; j < 9; ++j) x.push_back(values[i * 7 + j % 7]);
    return {floats(x, {80, 9}), from.y};
  }
  const int64_t target = name == "iris" ? 3 : 0;
  for (int64_t i = 0; i < from.x.dim(0); ++i)
    for (int64_t j = 0; j < width; ++j) (j == target ? y : x).push_back(values[i * width + j]);
  return {floats(x, {from.x.dim(0), width - 1}), floats(y, {from.x.dim(0)})};
}

template <typename Model>
void check_model(const Model& model, const MlSet& set, const MlCases& cases,
                 const std::string& name) {
  CAPTURE(name);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-4);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-4);
  CHECK(model.score(set.x, set.y) ==
        doctest::Approx(cases[name + ".score"].values[0]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("LinearRegression and Ridge: equal scikit-learn's within 1e-4") {
  const MlCases cases("linear.txt");
  for (const std::string name : kSets) {
    const MlSet set = target_set(name);
    for (LeastSquaresSolver solver : {LeastSquaresSolver::automatic, LeastSquaresSolver::qr}) {
      LinearRegression model({.solver = solver}),
          origin({.fit_intercept = false, .solver = solver});
      model.fit(set.x, set.y);
      origin.fit(set.x, set.y);
      check_model(model, set, cases, name + ".ols");
      CHECK(difference(origin.coefficients(), cases[name + ".origin.w"].values) < 1e-4);
      CHECK(origin.intercept()(0) == 0);
    }
    const std::pair<std::string, double> alphas[] = {{"0.1", 0.1}, {"1", 1}, {"100", 100}};
    for (const auto& alpha : alphas) {
      Ridge model({.alpha = alpha.second});
      model.fit(set.x, set.y);
      check_model(model, set, cases, name + ".ridge." + alpha.first);
    }
  }
}

TEST_CASE("LinearRegression and Ridge: on every device, strided x, and several outputs") {
  for (Device device : all_devices()) {
    const MlSet set = target_set("outputs").to(device);
    LinearRegression model;
    model.fit(set.x, set.y);
    CHECK(model.coefficients().shape() == Shape{3, 5});
    CHECK(model.coefficients().device() == device);
    CHECK(model.predict(set.x).shape() == Shape{60, 3});
    CHECK(model.predict(set.x).device() == device);
    LinearRegression strided;
    const Tensor columns = set.x.transpose().clone().transpose();
    strided.fit(columns, set.y);
    CHECK(strided.coefficients().to_vector() == model.coefficients().to_vector());
    CHECK(strided.predict(columns).to_vector() == model.predict(set.x).to_vector());
  }
}

TEST_CASE("LinearRegression: the same bits for any number of threads") {
  const MlSet set = target_set("long");
  LinearRegression one, three;
  one.fit(set.x, set.y);
  set_thread_count(3);
  three.fit(set.x, set.y);
  set_thread_count(0);
  CHECK(one.coefficients().to_vector() == three.coefficients().to_vector());
}

TEST_CASE("Tempura's fault: a constant column gave NaN in LinearRegression") {
  const Tensor x = floats({1, 5, 2, 5, 3, 5}, {3, 2}), y = floats({3, 5, 7}, {3});
  LinearRegression model;
  model.fit(x, y);
  CHECK(difference(model.coefficients(), {2, 0}) < 1e-6);
  CHECK(model.intercept()(0) == doctest::Approx(1));
  Ridge ridge({.alpha = 0});
  ridge.fit(x, y);
  CHECK(difference(ridge.coefficients(), {2, 0}) < 1e-6);
}

TEST_CASE("LinearRegression and Ridge: errors") {
  const Tensor x = floats({1, 2, 3, 4}, {2, 2}), y = floats({1, 2}, {2});
  LinearRegression model;
  CHECK_THROWS_WITH_AS(model.predict(x),
                       "[LinearRegression.predict] expected a fitted model, call fit() first",
                       ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({1, 2, 3}, {3})), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({}, {0, 2}), floats({}, {0})), ShapeError);
  CHECK_THROWS_AS(model.fit(y, y), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({1, 2}, {2})), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(model.fit(floats({1, 2, 3, nan}, {2, 2}), y), ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({1, nan}, {2})), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_WITH_AS(model.predict(floats({1, 2, 3}, {1, 3})),
                       "[LinearRegression.predict] expected x of shape [n, 2], got [1, 3]",
                       ShapeError);
  CHECK_THROWS_AS(Ridge({.alpha = -1}), ShapeError);
}
