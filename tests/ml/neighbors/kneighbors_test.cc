// SPDX-License-Identifier: MIT
#include "ml/neighbors/kneighbors.h"

#include "base/error.h"
#include "tests/ml/neighbors/neighbor_sets.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::KNeighborsClassifier;
using ml::KNeighborsRegressor;
using ml::NeighborWeights;

TEST_CASE("KNeighborsClassifier and KNeighborsRegressor: the results of scikit-learn") {
  const MlCases cases("neighbors.txt");
  for (const std::string name : {"iris", "cancer", "digits"}) {
    CAPTURE(name);
    const TestParts parts = every_fifth(ml_set(name));
    const int64_t last = parts.train_x.dim(1) - 1;
    for (const NeighborWeights weights : {NeighborWeights::uniform, NeighborWeights::distance}) {
      const std::string prefix =
          name + (weights == NeighborWeights::uniform ? ".uniform." : ".distance.");
      KNeighborsClassifier classifier({.n_neighbors = 7, .weights = weights});
      classifier.fit(parts.train_x, parts.train_y);
      // At equal distances, the selected neighbors may differ.
      CHECK(classifier.score(parts.test_x, parts.test_y) ==
            doctest::Approx(cases.number(prefix + "accuracy")).epsilon(0.01));
      const Tensor proba = classifier.predict_proba(parts.test_x.slice(0, 0, 20));
      const Doubles actual = doubles(proba), wanted = cases[prefix + "proba"].values;
      REQUIRE(actual.size() == wanted.size());
      int64_t different = 0;
      for (size_t i = 0; i < actual.size(); ++i)
        different += std::abs(actual[i] - wanted[i]) > 1e-3;
      CHECK(different <= 4);
      KNeighborsRegressor regressor({.n_neighbors = 7, .weights = weights});
      regressor.fit(parts.train_x.slice(1, 0, last), column(parts.train_x, last));
      CHECK(regressor.score(parts.test_x.slice(1, 0, last), column(parts.test_x, last)) ==
            doctest::Approx(cases.number(prefix + "r2")).epsilon(0.02));
    }
  }
}

TEST_CASE("KNeighborsClassifier: any labels, weights and equal votes") {
  const Tensor x{{0}, {1}, {2}, {10}};
  const int32_t labels[] = {7, -3, -3, 100};
  const Tensor y = Tensor::from(std::span<const int32_t>(labels), {4});
  KNeighborsClassifier uniform({.n_neighbors = 2});
  uniform.fit(x, y);
  CHECK(uniform.classes() == std::vector<int32_t>{-3, 7, 100});
  check_close(uniform.predict(Tensor{{0.4f}, {1.6f}}), {-3, -3}, 0);  // 1 : 1 gives the smaller one
  check_close(uniform.predict_proba(Tensor{{0.4f}}), {0.5, 0.5, 0}, 1e-6);
  KNeighborsClassifier distance({.n_neighbors = 3, .weights = NeighborWeights::distance});
  distance.fit(x, y);
  check_close(distance.predict(Tensor{{0.1f}, {0}}), {7, 7}, 0);
  check_close(distance.predict_proba(Tensor{{0}}), {0, 1, 0}, 1e-6);
}

TEST_CASE("KNeighborsRegressor: several outputs and exact samples") {
  KNeighborsRegressor model({.n_neighbors = 2, .weights = NeighborWeights::distance});
  model.fit(Tensor{{0}, {2}, {9}}, Tensor{{1, 10}, {3, 30}, {7, 70}});
  const Tensor result = model.predict(Tensor{{0.5f}, {2}});
  CHECK(result.shape() == Shape{2, 2});
  check_close(result, {1.5, 15, 3, 30}, 1e-5);
}

TEST_CASE("KNeighborsClassifier and KNeighborsRegressor: errors") {
  CHECK_THROWS_AS(KNeighborsClassifier({.n_neighbors = 0}), Error);
  KNeighborsClassifier model;
  const Tensor x{{1, 2}, {3, 4}};
  const int32_t labels[] = {1, 2};
  const Tensor y = Tensor::from(std::span<const int32_t>(labels), {2});
  CHECK_THROWS_AS(model.predict(x), Error);
  CHECK_THROWS_AS(model.classes(), Error);
  CHECK_THROWS_AS(model.fit(x, Tensor::zeros({2})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, Tensor::zeros({3}, DType::i32)), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_AS(model.predict(x), ShapeError);  // fewer samples than neighbors
  KNeighborsRegressor regressor;
  CHECK_THROWS_AS(regressor.predict(x), Error);
  CHECK_THROWS_AS(regressor.fit(x, Tensor::zeros({3})), ShapeError);
}
