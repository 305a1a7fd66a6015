// SPDX-License-Identifier: MIT
// Nearest neighbors on 20 sets of different shapes, against scikit-learn.
#include "ml/neighbors/kneighbors.h"
#include "ml/neighbors/radius_neighbors.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("KNeighborsClassifier and KNeighborsRegressor: equal scikit-learn's on 20 sets") {
  const MlCases cases("synthetic_neighbors.txt");
  for (int i = 0; i < kSyntheticSets; ++i)
    for (const NeighborWeights weights : {NeighborWeights::uniform, NeighborWeights::distance}) {
      const std::string name =
          std::to_string(i) + (weights == NeighborWeights::uniform ? ".uniform" : ".distance");
      CAPTURE(name);
      const KNeighborsOptions options{.n_neighbors = 1 + i % 8, .weights = weights};
      const TrainingAndTest classes = training_and_test(synthetic_classes(i)),
                            targets = training_and_test(synthetic_targets(i));
      KNeighborsClassifier classifier(options);
      classifier.fit(classes.train.x, classes.train.y);
      CHECK(difference(classifier.predict_proba(few(classes.test.x)),
                       cases[name + ".proba"].values) < 1e-4);
      check_score(classifier.score(classes.test.x, classes.test.y), cases[name + ".accuracy"]);
      KNeighborsRegressor regressor(options);
      regressor.fit(targets.train.x, targets.train.y);
      CHECK(difference(regressor.predict(few(targets.test.x)), cases[name + ".predict"].values) <
            1e-4);
      check_score(regressor.score(targets.test.x, targets.test.y), cases[name + ".r2"]);
    }
}

TEST_CASE(
    "RadiusNeighborsClassifier and RadiusNeighborsRegressor: equal scikit-learn's on 20 sets") {
  const MlCases cases("synthetic_neighbors.txt");
  for (int i = 0; i < kSyntheticSets; ++i)
    for (const NeighborWeights weights : {NeighborWeights::uniform, NeighborWeights::distance}) {
      const std::string set = std::to_string(i) + ".radius.";
      const std::string name = set + (weights == NeighborWeights::uniform ? "uniform" : "distance");
      CAPTURE(name);
      const TrainingAndTest classes = training_and_test(synthetic_classes(i)),
                            targets = training_and_test(synthetic_targets(i));
      // Some samples have no neighbors. They get the label 0.
      RadiusNeighborsClassifier classifier(
          {{.radius = cases.number(set + "classes"), .weights = weights}, 0});
      classifier.fit(classes.train.x, classes.train.y);
      CHECK(difference(classifier.predict_proba(few(classes.test.x)),
                       cases[name + ".proba"].values) < 1e-4);
      check_score(classifier.score(classes.test.x, classes.test.y), cases[name + ".accuracy"]);
      RadiusNeighborsRegressor regressor(
          {.radius = cases.number(set + "targets"), .weights = weights});
      regressor.fit(targets.train.x, targets.train.y);
      CHECK(difference(regressor.predict(few(targets.test.x)), cases[name + ".predict"].values) <
            1e-4);
      check_score(regressor.score(targets.test.x, targets.test.y), cases[name + ".r2"]);
    }
}
