// SPDX-License-Identifier: MIT
// Perceptron and passive-aggressive learners.
#include "ml/online/passive_aggressive.h"

#include "base/error.h"
#include "ml/online/perceptron.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/real_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

void check_online(OneVsRestSgd&& model, const MlSet& set, const MlCases& cases,
                  const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-5);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-5);
}

}  // namespace

TEST_CASE("Perceptron and PassiveAggressiveClassifier: the steps of scikit-learn") {
  const MlCases cases("online.txt");
  for (const std::string name : {"blobs", "pairs"}) {
    const MlSet set = labeled_set(name);
    check_online(Perceptron({.shuffle = false}), set, cases, name + ".perceptron");
    check_online(
        Perceptron({.penalty = SgdPenalty::l2, .alpha = 0.01, .shuffle = false, .eta0 = 0.3}), set,
        cases, name + ".perceptron.eta");
    const std::pair<std::string, double> limits[] = {{"0.01", 0.01}, {"1", 1}};
    for (const auto& c : limits) {
      check_online(PassiveAggressiveClassifier({.c = c.second, .shuffle = false}), set, cases,
                   name + ".pa1." + c.first);
      check_online(PassiveAggressiveClassifier(
                       {.c = c.second, .kind = PassiveAggressiveKind::pa2, .shuffle = false}),
                   set, cases, name + ".pa2." + c.first);
    }
  }
}

TEST_CASE("PassiveAggressiveRegressor: the steps of scikit-learn") {
  const MlCases cases("online.txt");
  const MlSet set = regression_set(80, 7, 1, 10);
  const std::pair<std::string, double> limits[] = {{"0.01", 0.01}, {"1", 1}};
  for (const auto& c : limits)
    for (PassiveAggressiveKind kind : {PassiveAggressiveKind::pa1, PassiveAggressiveKind::pa2}) {
      const std::string name = std::string("regression.pa") +
                               (kind == PassiveAggressiveKind::pa1 ? "1." : "2.") + c.first;
      CAPTURE(name);
      PassiveAggressiveRegressor model({.c = c.second, .kind = kind, .shuffle = false});
      model.fit(set.x, set.y);
      CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-5);
      CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-5);
    }
  CHECK_THROWS_AS(PassiveAggressiveRegressor({.epsilon = -1}), ShapeError);
}

TEST_CASE("online classifiers: on iris, digits and cancer, as scikit-learn over 20 seeds") {
  const MlCases cases("online.txt");
  SeedComparison comparison(cases);
  for (const std::string& set : real_sets()) {
    const TrainingAndTest parts = fifth_for_test(labeled_set(set));
    const std::string name = set + ".classifier.";
    comparison.add(name + "perceptron",
                   [&](uint64_t seed) { return test_score(Perceptron({.seed = seed}), parts); });
    comparison.add(name + "pa1", [&](uint64_t seed) {
      return test_score(PassiveAggressiveClassifier({.seed = seed}), parts);
    });
    comparison.add(name + "pa2", [&](uint64_t seed) {
      return test_score(
          PassiveAggressiveClassifier({.kind = PassiveAggressiveKind::pa2, .seed = seed}), parts);
    });
  }
  comparison.check(9);
}

TEST_CASE("PassiveAggressiveRegressor: on iris, digits and cancer, as scikit-learn over 20 seeds") {
  const MlCases cases("online.txt");
  SeedComparison comparison(cases);
  for (const std::string& set : real_sets()) {
    const TrainingAndTest parts = fifth_for_test(real_targets(set));
    for (PassiveAggressiveKind kind : {PassiveAggressiveKind::pa1, PassiveAggressiveKind::pa2})
      comparison.add(set + ".regressor." + (kind == PassiveAggressiveKind::pa1 ? "pa1" : "pa2"),
                     [&](uint64_t seed) {
                       return test_score(PassiveAggressiveRegressor({.kind = kind, .seed = seed}),
                                         parts);
                     });
  }
  comparison.check(6);
}

TEST_CASE("Tempura's fault: PassiveAggressive ignored C and mode, and computed 1 / 2 * C") {
  // One sample x = (3, 4), y = 1, w = 0: the loss is 1, and |x|^2 is 25.
  const Tensor x = floats({3, 4}, {1, 2}), y = integers({1}, {1});
  const auto step = [&](double c, PassiveAggressiveKind kind) {
    PassiveAggressiveClassifier model({.c = c, .kind = kind, .fit_intercept = false});
    model.partial_fit(x, y, {-1, 1});
    return model.coefficients()(0, 0) / 3;
  };
  CHECK(step(1, PassiveAggressiveKind::pa1) == doctest::Approx(1.0 / 25));
  CHECK(step(0.01, PassiveAggressiveKind::pa1) == doctest::Approx(0.01));
  CHECK(step(1, PassiveAggressiveKind::pa2) == doctest::Approx(1 / 25.5));
  CHECK(step(0.1, PassiveAggressiveKind::pa2) == doctest::Approx(1.0 / 30));
}

TEST_CASE("Perceptron: separable data, devices, and errors") {
  for (Device device : all_devices()) {
    Perceptron model;
    const Tensor x = floats({-2, -1, 1, 2}, {4, 1}, device);
    const Tensor y = integers({8, 8, 9, 9}, {4}, device);
    model.fit(x, y);
    CHECK(model.score(x, y) == 1);
    CHECK(model.predict(x).device() == device);
  }
  CHECK_THROWS_AS(Perceptron({.eta0 = 0}), ShapeError);
  CHECK_THROWS_AS(PassiveAggressiveClassifier({.c = 0}), ShapeError);
  CHECK_THROWS_WITH_AS(Perceptron().fit(floats({1, 2}, {2, 1}), integers({1, 1}, {2})),
                       "[Perceptron] expected at least two classes, got 1", ShapeError);
}
