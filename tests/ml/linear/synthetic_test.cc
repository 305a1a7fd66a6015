// SPDX-License-Identifier: MIT
// Linear models on 20 sets of different shapes, against scikit-learn.
#include "ml/linear/elastic_net.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "ml/linear/sgd.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("linear estimators: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_linear.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    const MlSet targets = synthetic_targets(i);
    check_linear(LinearRegression(), targets, cases, name + ".ols");
    check_linear(Ridge({.alpha = 0.3 * (i + 1)}), targets, cases, name + ".ridge");
    ElasticNetOptions net;
    net.alpha = 0.02;
    net.l1_ratio = 0.05 * (i + 1);
    net.tol = 1e-9;
    net.max_iter = 100000;
    check_linear(ElasticNet(net), targets, cases, name + ".net");
    LogisticRegressionOptions logistic;
    logistic.c = 0.1 * (i + 1);
    logistic.tol = 1e-6;
    logistic.max_iter = 5000;
    check_linear(LogisticRegression(logistic), synthetic_classes(i), cases, name + ".logistic");
  }
}

TEST_CASE("SGDClassifier and SGDRegressor: the steps of scikit-learn on 20 synthetic sets") {
  constexpr SgdLoss kLosses[] = {SgdLoss::hinge, SgdLoss::log, SgdLoss::modified_huber};
  constexpr SgdPenalty kPenalties[] = {SgdPenalty::l2, SgdPenalty::l1, SgdPenalty::elasticnet};
  constexpr SgdLoss kTargetLosses[] = {SgdLoss::squared_error, SgdLoss::huber,
                                       SgdLoss::epsilon_insensitive,
                                       SgdLoss::squared_epsilon_insensitive};
  const MlCases cases("synthetic_linear.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    SGDClassifierOptions classifier;
    classifier.loss = kLosses[i % 3];
    classifier.penalty = kPenalties[i / 3 % 3];
    classifier.alpha = 0.01;
    classifier.shuffle = false;
    check_linear(SGDClassifier(classifier), synthetic_classes(i), cases, name + ".sgd");
    SGDRegressorOptions regressor;
    regressor.loss = kTargetLosses[i % 4];
    regressor.shuffle = false;
    check_linear(SGDRegressor(regressor), synthetic_target(i), cases, name + ".sgd_regressor");
  }
}

TEST_CASE("SGDClassifier and SGDRegressor: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_linear.txt");
  SeedComparison classifiers(cases), regressors(cases);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const MlSet set = synthetic_classes(i), target = synthetic_target(i);
    classifiers.add(std::to_string(i) + ".sgd", [&](uint64_t seed) {
      SGDClassifierOptions options;
      options.alpha = 0.01;
      options.seed = seed;
      SGDClassifier model(options);
      model.fit(set.x, set.y);
      return model.score(set.x, set.y);
    });
    regressors.add(std::to_string(i) + ".sgd_regressor", [&](uint64_t seed) {
      SGDRegressorOptions options;
      options.seed = seed;
      SGDRegressor model(options);
      model.fit(target.x, target.y);
      return model.score(target.x, target.y);
    });
  }
  classifiers.check();
  regressors.check();
}
