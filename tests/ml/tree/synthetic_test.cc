// SPDX-License-Identifier: MIT
// Decision trees on 20 sets of different shapes, against scikit-learn.
#include "ml/tree/decision_tree.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

DecisionTreeClassifierOptions synthetic_classifier(int i) {
  DecisionTreeClassifierOptions options;
  options.criterion = i % 2 == 0 ? TreeCriterion::gini : TreeCriterion::entropy;
  return options;
}

/// The tree of the largest depth that no tie decides, which the script found.
template <class Model, class Options, class Output>
void check_synthetic_tree(const MlSet& set, const MlCases& cases, const std::string& name,
                          Options options, const Output& output) {
  CAPTURE(name);
  const TrainingAndTest parts = training_and_test(set);
  options.max_depth = static_cast<int64_t>(cases.number(name + ".depth"));
  Model model(options);
  model.fit(parts.train.x, parts.train.y);
  CHECK(static_cast<double>(model.tree().nodes.size()) == cases.number(name + ".nodes"));
  CHECK(difference(output(model, few(parts.test.x)), cases[name + ".output"].values) < 1e-4);
  check_score(model.score(parts.test.x, parts.test.y), cases[name + ".score"]);
}

/// The score of the test part. Each split considers the square root of all features.
template <class Model, class Options>
double synthetic_tree_score(const TrainingAndTest& parts, Options options, uint64_t seed) {
  options.max_features = FeatureCount::sqrt;
  options.seed = seed;
  return test_score(Model(options), parts);
}

}  // namespace

TEST_CASE("Decision trees: the trees of scikit-learn on 20 synthetic sets") {
  const MlCases cases("synthetic_tree.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    check_synthetic_tree<DecisionTreeClassifier>(
        synthetic_classes(i), cases, std::to_string(i) + ".classifier", synthetic_classifier(i),
        [](const DecisionTreeClassifier& model, const Tensor& x) {
          return model.predict_proba(x);
        });
    check_synthetic_tree<DecisionTreeRegressor>(
        synthetic_targets(i), cases, std::to_string(i) + ".regressor",
        DecisionTreeRegressorOptions(),
        [](const DecisionTreeRegressor& model, const Tensor& x) { return model.predict(x); });
  }
}

TEST_CASE("Decision trees: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_tree.txt");
  SeedComparison classifiers(cases, errors_below), regressors(cases, errors_below);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const TrainingAndTest classes = training_and_test(synthetic_classes(i)),
                          targets = training_and_test(synthetic_targets(i));
    classifiers.add(std::to_string(i) + ".classifier", [&](uint64_t seed) {
      return synthetic_tree_score<DecisionTreeClassifier>(classes, synthetic_classifier(i), seed);
    });
    regressors.add(std::to_string(i) + ".regressor", [&](uint64_t seed) {
      return synthetic_tree_score<DecisionTreeRegressor>(targets, DecisionTreeRegressorOptions(),
                                                         seed);
    });
  }
  classifiers.check();
  regressors.check();
}
