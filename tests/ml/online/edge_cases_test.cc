// SPDX-License-Identifier: MIT
// Each online learner with unusual input.
#include "ml/online/confidence.h"
#include "ml/online/passive_aggressive.h"
#include "ml/online/perceptron.h"
#include "tests/support/ml_edges.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("Perceptron and PassiveAggressiveClassifier: unusual input") {
  check_classifier_edges([] { return Perceptron(); });
  for (PassiveAggressiveKind kind : {PassiveAggressiveKind::pa1, PassiveAggressiveKind::pa2})
    check_classifier_edges([&] { return PassiveAggressiveClassifier({.kind = kind}); });
}

TEST_CASE("PassiveAggressiveRegressor: unusual input") {
  for (PassiveAggressiveKind kind : {PassiveAggressiveKind::pa1, PassiveAggressiveKind::pa2})
    check_regressor_edges([&] { return PassiveAggressiveRegressor({.c = 0.1, .kind = kind}); });
}

TEST_CASE("CW, SCW, AROW and NHERD: unusual input") {
  check_classifier_edges([] { return ConfidenceWeighted(); });
  check_classifier_edges([] { return SoftConfidenceWeighted(); });
  check_classifier_edges([] { return AROW(); });
  check_classifier_edges([] { return NHERD(); });
}
