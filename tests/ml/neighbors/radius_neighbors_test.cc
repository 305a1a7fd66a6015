// SPDX-License-Identifier: MIT
#include "ml/neighbors/radius_neighbors.h"

#include <cmath>

#include "base/error.h"
#include "tests/ml/neighbors/neighbor_sets.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::NeighborWeights;
using ml::RadiusNeighborsClassifier;
using ml::RadiusNeighborsRegressor;

TEST_CASE("RadiusNeighborsClassifier and RadiusNeighborsRegressor: the results of scikit-learn") {
  const MlCases cases("neighbors.txt");
  for (const std::string name : {"iris", "cancer", "digits"}) {
    CAPTURE(name);
    const TestParts parts = every_fifth(ml_set(name));
    const double radius = cases.number(name + ".radius");
    for (const NeighborWeights weights : {NeighborWeights::uniform, NeighborWeights::distance}) {
      const std::string prefix =
          name + (weights == NeighborWeights::uniform ? ".uniform." : ".distance.");
      RadiusNeighborsClassifier classifier({{.radius = radius, .weights = weights}, -1});
      classifier.fit(parts.train_x, parts.train_y);
      check_close(classifier.predict(parts.test_x), cases[prefix + "within"].values, 0);
      // Distances have a relative error of 1e-6 in f32.
      check_close(classifier.predict_proba(parts.test_x.slice(0, 0, 20)),
                  cases[prefix + "within_proba"].values, 1e-5, 1e-5);
      RadiusNeighborsRegressor regressor({.radius = 8 * radius, .weights = weights});
      const int64_t last = parts.train_x.dim(1) - 1;
      regressor.fit(parts.train_x.slice(1, 0, last), column(parts.train_x, last));
      check_close(regressor.predict(parts.test_x.slice(0, 0, 20).slice(1, 0, last)),
                  cases[prefix + "within_mean"].values, 1e-5, 1e-5);
    }
  }
}

TEST_CASE("RadiusNeighborsClassifier: queries without neighbors") {
  const Tensor x{{0}, {1}, {10}}, queries{{0.4f}, {5}};
  const int32_t labels[] = {7, 7, -3};
  const Tensor y = Tensor::from(std::span<const int32_t>(labels), {3});
  RadiusNeighborsClassifier refuses({{.radius = 1.5}, {}});
  refuses.fit(x, y);
  check_close(refuses.predict(queries.slice(0, 0, 1)), {7}, 0);
  CHECK_THROWS_WITH_AS(refuses.predict(queries),
                       "[RadiusNeighborsClassifier] expected a sample within the radius of 1.5 "
                       "around query 1, got none (increase radius, or set outlier_label)",
                       Error);
  CHECK_THROWS_AS(refuses.predict_proba(queries), Error);
  RadiusNeighborsClassifier known({{.radius = 1.5}, -3});
  known.fit(x, y);
  check_close(known.predict(queries), {7, -3}, 0);
  check_close(known.predict_proba(queries), {0, 1, 1, 0}, 0);
  RadiusNeighborsClassifier other({{.radius = 1.5}, 100});
  other.fit(x, y);
  check_close(other.predict(queries), {7, 100}, 0);
  check_close(other.predict_proba(queries), {0, 1, 0, 0}, 0);
}

TEST_CASE("RadiusNeighborsRegressor: several outputs, exact samples, and no neighbors") {
  RadiusNeighborsRegressor model({.radius = 2, .weights = NeighborWeights::distance});
  model.fit(Tensor{{0}, {2}, {9}}, Tensor{{1, 10}, {3, 30}, {7, 70}});
  const Tensor result = model.predict(Tensor{{0.5f}, {2}, {5}});
  CHECK(result.shape() == Shape{3, 2});
  check_close(result.slice(0, 0, 2), {1.5, 15, 3, 30}, 1e-5);
  for (const double value : doubles(result.slice(0, 2, 1))) CHECK(std::isnan(value));
  CHECK_THROWS_WITH_AS(model.score(Tensor{{0.5f}, {2}, {5}}, Tensor{{1, 1}, {2, 2}, {3, 3}}),
                       "[RadiusNeighborsRegressor] expected a sample within the radius of 2 around "
                       "query 2, got none (increase radius)",
                       Error);
}

TEST_CASE("RadiusNeighborsClassifier and RadiusNeighborsRegressor: several blocks of queries") {
  const int64_t n = 2500;
  const Tensor x = random_tensor({n, 2}, 1), queries = random_tensor({n, 2}, 2);
  queries.slice(0, 2000, 1).mutable_data<float>()[0] = 100;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < n; ++i) labels.push_back(static_cast<int32_t>(i % 3));
  const Tensor y = Tensor::from(std::span<const int32_t>(labels), {n});
  RadiusNeighborsClassifier classifier({{.radius = 0.05}, 1});
  classifier.fit(x, y);
  RadiusNeighborsRegressor regressor({.radius = 0.05});
  regressor.fit(x, column(x, 0));
  const Tensor all = classifier.predict(queries), proba = classifier.predict_proba(queries);
  const Tensor means = regressor.predict(queries);
  check_close(proba.slice(0, 2000, 1), {0, 1, 0}, 0);
  RadiusNeighborsRegressor wide({.radius = 3});
  wide.fit(x, column(x, 0));
  CHECK_THROWS_WITH_AS(wide.score(queries.slice(0, 1900, 500), Tensor::zeros({500})),
                       "[RadiusNeighborsRegressor] expected a sample within the radius of 3 "
                       "around query 100, got none (increase radius)",
                       Error);
  RadiusNeighborsClassifier refuses({{.radius = 3}, {}});
  refuses.fit(x, y);
  CHECK_THROWS_WITH_AS(refuses.predict(queries),
                       "[RadiusNeighborsClassifier] expected a sample within the radius of 3 "
                       "around query 2000, got none (increase radius, or set outlier_label)",
                       Error);
  for (const int64_t begin : {0, 1000, 1500, 2499}) {
    const Tensor row = queries.slice(0, begin, 1);
    check_close(classifier.predict(row), doubles(all.slice(0, begin, 1)), 0);
    check_close(classifier.predict_proba(row), doubles(proba.slice(0, begin, 1)), 0);
    const Doubles mean = doubles(regressor.predict(row)), same = doubles(means.slice(0, begin, 1));
    CHECK((mean == same || (std::isnan(mean[0]) && std::isnan(same[0]))));
  }
}

TEST_CASE("RadiusNeighborsClassifier and RadiusNeighborsRegressor: errors") {
  CHECK_THROWS_AS(RadiusNeighborsClassifier({{.radius = -1}, {}}), Error);
  CHECK_THROWS_AS(RadiusNeighborsClassifier({{}, int64_t{1} << 40}), Error);
  CHECK_THROWS_AS(RadiusNeighborsRegressor({.radius = std::nan("")}), Error);
  RadiusNeighborsClassifier model;
  const Tensor x{{1, 2}, {3, 4}};
  CHECK_THROWS_AS(model.predict(x), Error);
  CHECK_THROWS_AS(model.classes(), Error);
  CHECK_THROWS_AS(model.fit(x, Tensor::zeros({2})), ShapeError);
  RadiusNeighborsRegressor regressor;
  CHECK_THROWS_AS(regressor.predict(x), Error);
  CHECK_THROWS_AS(regressor.fit(x, Tensor::zeros({3})), ShapeError);
}
