// SPDX-License-Identifier: MIT
// Random forests on 20 sets of different shapes, against scikit-learn.
#include "ml/ensemble/random_forest.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// The score of the test part.
template <class Model, class Options>
double synthetic_forest_score(const TrainingAndTest& parts, int i, uint64_t seed) {
  Options options;
  options.n_estimators = 10;
  options.min_samples_leaf = 1 + i % 3;
  options.max_features = FeatureCount::sqrt;
  options.seed = seed;
  return test_score(Model(options), parts);
}

}  // namespace

TEST_CASE("Random forests: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_ensemble.txt");
  SeedComparison classifiers(cases), regressors(cases);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const TrainingAndTest classes = training_and_test(synthetic_classes(i)),
                          targets = training_and_test(synthetic_targets(i));
    classifiers.add(std::to_string(i) + ".classifier", [&](uint64_t seed) {
      return synthetic_forest_score<RandomForestClassifier, RandomForestClassifierOptions>(classes,
                                                                                           i, seed);
    });
    regressors.add(std::to_string(i) + ".regressor", [&](uint64_t seed) {
      return synthetic_forest_score<RandomForestRegressor, RandomForestRegressorOptions>(targets, i,
                                                                                         seed);
    });
  }
  classifiers.check();
  regressors.check();
}
