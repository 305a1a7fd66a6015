// SPDX-License-Identifier: MIT
// Perceptron and passive-aggressive learners on 20 sets of different shapes, against scikit-learn.
#include "ml/online/passive_aggressive.h"
#include "ml/online/perceptron.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

PassiveAggressiveKind synthetic_kind(int i) {
  return i % 2 == 0 ? PassiveAggressiveKind::pa1 : PassiveAggressiveKind::pa2;
}

}  // namespace

TEST_CASE("online learners: the steps of scikit-learn on 20 synthetic sets") {
  const MlCases cases("synthetic_online.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    const MlSet set = synthetic_classes(i);
    check_linear(Perceptron({.shuffle = false}), set, cases, name + ".perceptron");
    check_linear(
        PassiveAggressiveClassifier({.c = 0.1, .kind = synthetic_kind(i), .shuffle = false}), set,
        cases, name + ".pa");
    check_linear(
        PassiveAggressiveRegressor({.c = 0.1, .kind = synthetic_kind(i), .shuffle = false}),
        synthetic_target(i), cases, name + ".regressor");
  }
}

TEST_CASE("online learners: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_online.txt");
  SeedComparison perceptrons(cases), classifiers(cases), regressors(cases);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    const MlSet set = synthetic_classes(i), target = synthetic_target(i);
    const auto score = [](auto&& model, const MlSet& samples) {
      model.fit(samples.x, samples.y);
      return model.score(samples.x, samples.y);
    };
    perceptrons.add(name + ".perceptron",
                    [&](uint64_t seed) { return score(Perceptron({.seed = seed}), set); });
    classifiers.add(name + ".pa", [&](uint64_t seed) {
      return score(PassiveAggressiveClassifier({.c = 0.1, .kind = synthetic_kind(i), .seed = seed}),
                   set);
    });
    regressors.add(name + ".regressor", [&](uint64_t seed) {
      return score(PassiveAggressiveRegressor({.c = 0.1, .kind = synthetic_kind(i), .seed = seed}),
                   target);
    });
  }
  perceptrons.check();
  classifiers.check();
  regressors.check();
}
