// SPDX-License-Identifier: MIT
#include "ml/linear/sgd.h"

#include <limits>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/real_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// Options without shuffling, as in the reference.
SGDClassifierOptions in_order() {
  SGDClassifierOptions options;
  options.alpha = 0.01;
  options.shuffle = false;
  return options;
}

template <typename Model>
void check_case(Model&& model, const Tensor& x, const Tensor& y, const MlCases& cases,
                const std::string& name) {
  CAPTURE(name);
  model.fit(x, y);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-5);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-5);
  CHECK(model.score(x, y) == doctest::Approx(cases[name + ".score"].values[0]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("SGDClassifier: the steps of scikit-learn, for each loss and penalty") {
  const MlCases cases("linear.txt");
  const std::pair<std::string, SgdLoss> losses[] = {{"hinge", SgdLoss::hinge},
                                                    {"squared_hinge", SgdLoss::squared_hinge},
                                                    {"log_loss", SgdLoss::log},
                                                    {"huber", SgdLoss::huber},
                                                    {"squared_error", SgdLoss::squared_error}};
  const std::pair<std::string, SgdPenalty> penalties[] = {
      {"l2", SgdPenalty::l2}, {"l1", SgdPenalty::l1}, {"elasticnet", SgdPenalty::elasticnet}};
  for (const std::string name : {"blobs", "pairs"}) {
    const MlSet set = labeled_set(name);
    for (const auto& loss : losses)
      for (const auto& penalty : penalties) {
        SGDClassifierOptions options = in_order();
        options.loss = loss.second;
        options.penalty = penalty.second;
        if (loss.second == SgdLoss::squared_error || loss.second == SgdLoss::squared_hinge) {
          options.learning_rate = LearningRate::invscaling;
          options.eta0 = 0.02;
        }
        check_case(SGDClassifier(options), set.x, set.y, cases,
                   name + ".sgd." + loss.first + "." + penalty.first);
      }
    const std::pair<std::string, SgdLoss> more[] = {
        {"modified_huber", SgdLoss::modified_huber},
        {"epsilon_insensitive", SgdLoss::epsilon_insensitive},
        {"squared_epsilon_insensitive", SgdLoss::squared_epsilon_insensitive}};
    for (const auto& loss : more) {
      SGDClassifierOptions options = in_order();
      options.loss = loss.second;
      options.learning_rate = LearningRate::invscaling;
      options.eta0 = 0.02;
      check_case(SGDClassifier(options), set.x, set.y, cases, name + ".sgd." + loss.first);
    }
    SGDClassifierOptions average = in_order(), weights = in_order(), balanced = in_order(),
                         adaptive = in_order();
    average.average = true;
    check_case(SGDClassifier(average), set.x, set.y, cases, name + ".sgd.average");
    weights.class_weight.values = {{0, 3}, {1, 0.5}};
    check_case(SGDClassifier(weights), set.x, set.y, cases, name + ".sgd.weights");
    adaptive.learning_rate = LearningRate::adaptive;
    adaptive.eta0 = 0.1;
    check_case(SGDClassifier(adaptive), set.x, set.y, cases, name + ".sgd.adaptive");
    balanced.class_weight.balanced = true;
    std::vector<double> uneven;
    for (int i = 0; i < 70; ++i) uneven.push_back(std::min(i % 5, name == "blobs" ? 2 : 1));
    check_case(SGDClassifier(balanced), set.x.slice(0, 0, 70), integers(uneven, {70}), cases,
               name + ".sgd.balanced");
  }
}

TEST_CASE("SGDRegressor: the steps of scikit-learn") {
  const MlCases cases("linear.txt");
  const MlSet set = regression_set(80, 7, 1, 10);
  SGDRegressorOptions squared, huber, constant;
  squared.shuffle = huber.shuffle = constant.shuffle = false;
  huber.loss = SgdLoss::huber;
  constant.learning_rate = LearningRate::constant;
  constant.eta0 = 0.05;
  constant.penalty = SgdPenalty::l1;
  constant.alpha = 0.003;
  check_case(SGDRegressor(squared), set.x, set.y, cases, "tall.sgd.squared_error");
  check_case(SGDRegressor(huber), set.x, set.y, cases, "tall.sgd.huber");
  SGDRegressorOptions narrow = squared;
  narrow.loss = SgdLoss::epsilon_insensitive;
  check_case(SGDRegressor(narrow), set.x, set.y, cases, "tall.sgd.epsilon_insensitive");
  narrow.loss = SgdLoss::squared_epsilon_insensitive;
  check_case(SGDRegressor(narrow), set.x, set.y, cases, "tall.sgd.squared_epsilon_insensitive");
  check_case(SGDRegressor(constant), set.x, set.y, cases, "tall.sgd.constant");
}

TEST_CASE("SGDClassifier: on iris, digits and cancer, as scikit-learn over 20 seeds") {
  const MlCases cases("linear.txt");
  const std::pair<std::string, SgdLoss> losses[] = {{"hinge", SgdLoss::hinge},
                                                    {"log_loss", SgdLoss::log},
                                                    {"modified_huber", SgdLoss::modified_huber}};
  SeedComparison comparison(cases);
  for (const std::string& name : real_sets()) {
    const TrainingAndTest parts = fifth_for_test(labeled_set(name));
    for (const auto& loss : losses)
      comparison.add(name + ".SGDClassifier." + loss.first, [&](uint64_t seed) {
        return test_score(SGDClassifier({.loss = loss.second, .seed = seed}), parts);
      });
  }
  comparison.check(9);
}

TEST_CASE("SGDRegressor: on iris, digits and cancer, as scikit-learn over 20 seeds") {
  const MlCases cases("linear.txt");
  const std::pair<std::string, SgdLoss> losses[] = {
      {"squared_error", SgdLoss::squared_error},
      {"huber", SgdLoss::huber},
      {"epsilon_insensitive", SgdLoss::epsilon_insensitive},
      {"squared_epsilon_insensitive", SgdLoss::squared_epsilon_insensitive}};
  SeedComparison comparison(cases);
  for (const std::string& name : real_sets()) {
    const TrainingAndTest parts = fifth_for_test(real_targets(name));
    for (const auto& loss : losses)
      comparison.add(name + ".SGDRegressor." + loss.first, [&](uint64_t seed) {
        return test_score(SGDRegressor({.loss = loss.second, .seed = seed}), parts);
      });
  }
  comparison.check(12);
}

TEST_CASE("SGDClassifier: the seed decides, threads do not, and labels may be any integers") {
  const MlSet set = labeled_set("digits");
  SGDClassifierOptions options;
  options.seed = 5;
  SGDClassifier first(options), again(options);
  first.fit(set.x, set.y);
  set_thread_count(3);
  again.fit(set.x, set.y);
  set_thread_count(0);
  CHECK(first.coefficients().to_vector() == again.coefficients().to_vector());
  CHECK(first.score(set.x, set.y) > 0.97);
  options.seed = 6;
  SGDClassifier other(options);
  other.fit(set.x, set.y);
  CHECK(first.coefficients().to_vector() != other.coefficients().to_vector());
  SGDClassifier named;
  named.fit(floats({-2, -1, 1, 2}, {4, 1}), integers({100, 100, -3, -3}, {4}));
  CHECK(named.classes() == std::vector<int32_t>{-3, 100});
  CHECK(named.predict(floats({-5, 5}, {2, 1})).to_vector<int32_t>() ==
        std::vector<int32_t>{100, -3});
}

TEST_CASE("SGD: partial_fit continues, with classes that come later") {
  const MlSet set = labeled_set("blobs");
  SGDClassifierOptions options = in_order();
  options.max_iter = 2;
  SGDClassifier whole(options), parts(options);
  whole.fit(set.x, set.y);
  for (int pass = 0; pass < 2; ++pass) parts.partial_fit(set.x, set.y, {0, 1, 2});
  const std::vector<float> expected = whole.coefficients().to_vector();
  CHECK(difference(parts.coefficients(), std::vector<double>(expected.begin(), expected.end())) <
        1e-6);
  SGDClassifier late(options);
  CHECK_THROWS_AS(late.partial_fit(set.x, set.y), ShapeError);
  late.partial_fit(set.x.slice(0, 0, 1), set.y.slice(0, 0, 1), {0, 1, 2});
  late.partial_fit(set.x, set.y);
  CHECK(late.classes() == std::vector<int32_t>{0, 1, 2});
  CHECK_THROWS_AS(late.partial_fit(set.x, integers(std::vector<double>(120, 3.0), {120})),
                  ShapeError);
  CHECK_THROWS_AS(late.partial_fit(set.x, set.y, {0, 1}), ShapeError);
  CHECK_THROWS_AS(late.partial_fit(set.x(All, Slice(0, 2)), set.y), ShapeError);
  const MlSet targets = regression_set(80, 7, 1, 10);
  SGDRegressor regressor;
  for (int pass = 0; pass < 200; ++pass) regressor.partial_fit(targets.x, targets.y);
  CHECK(regressor.score(targets.x, targets.y) > 0.95);
}

TEST_CASE("SGDClassifier: probabilities of the log loss") {
  SGDClassifierOptions options = in_order();
  options.loss = SgdLoss::log;
  for (const std::string name : {"blobs", "pairs"}) {
    const MlSet set = labeled_set(name);
    SGDClassifier model(options);
    model.fit(set.x, set.y);
    const Tensor p = model.predict_proba(set.x);
    CHECK(p.dim(1) == static_cast<int64_t>(model.classes().size()));
    for (int64_t i = 0; i < p.dim(0); ++i) {
      double sum = 0;
      for (int64_t c = 0; c < p.dim(1); ++c) sum += p(i, c);
      CHECK(sum == doctest::Approx(1));
    }
  }
  SGDClassifier hinge;
  CHECK_THROWS_AS(hinge.predict_proba(floats({1}, {1, 1})), ShapeError);
}

TEST_CASE("Tempura's fault: SGDRegressor scaled x in training but not in prediction") {
  std::vector<double> x, y;
  for (int i = 0; i < 200; ++i) {
    x.push_back(3 + i % 20 / 10.0);
    y.push_back(2 * x.back() - 1);
  }
  SGDRegressorOptions options;
  options.tol = 1e-9;
  SGDRegressor model(options);
  model.fit(floats(x, {200, 1}), floats(y, {200}));
  CHECK(model.predict(floats({4}, {1, 1}))(0) == doctest::Approx(7).epsilon(0.02));
}

TEST_CASE("SGD: weights that become infinite are an error, and leave the model as it was") {
  const Tensor large = floats({1e38, -1e38, 3e38}, {3, 1}), small = floats({1, -1, 3}, {3, 1});
  SGDRegressor regressor;
  CHECK_THROWS_AS(regressor.partial_fit(large, floats({1, 2, 3}, {3})), Error);
  CHECK_THROWS_AS(regressor.predict(small), ShapeError);
  regressor.partial_fit(small, floats({1, 2, 3}, {3}));
  const std::vector<float> before = regressor.coefficients().to_vector();
  CHECK_THROWS_AS(regressor.fit(large, floats({1, 2, 3}, {3})), Error);
  CHECK(regressor.coefficients().to_vector() == before);
  SGDClassifierOptions options = in_order();
  options.loss = SgdLoss::squared_error;
  options.learning_rate = LearningRate::constant;
  options.eta0 = 1;
  SGDClassifier classifier(options);
  const Tensor y = integers({0, 1, 1}, {3});
  CHECK_THROWS_AS(classifier.partial_fit(large, y, {0, 1}), Error);
  CHECK_THROWS_AS(classifier.predict(small), ShapeError);
  CHECK_THROWS_AS(classifier.partial_fit(large, y, {0, 1}), Error);
}

TEST_CASE("SGD: errors") {
  const Tensor x = floats({1, 2, 3}, {3, 1}), y = integers({0, 1, 1}, {3});
  CHECK_THROWS_WITH_AS(SGDClassifier().fit(x, integers({4, 4, 4}, {3})),
                       "[SGDClassifier] expected at least two classes, got 1", ShapeError);
  CHECK_THROWS_AS(SGDClassifier().predict(x), ShapeError);
  CHECK_THROWS_AS(SGDClassifier().fit(x, floats({0, 1, 1}, {3})), ShapeError);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(SGDClassifier().fit(floats({1, infinity, 3}, {3, 1}), y), ShapeError);
  SGDClassifierOptions options;
  options.alpha = 0;
  CHECK_THROWS_AS(SGDClassifier{options}, ShapeError);
  options = {};
  options.learning_rate = LearningRate::constant;
  CHECK_THROWS_AS(SGDClassifier{options}, ShapeError);
  options = {};
  options.class_weight.balanced = true;
  CHECK_THROWS_AS(SGDClassifier(options).partial_fit(x, y, {0, 1}), ShapeError);
  SGDRegressorOptions regression;
  regression.loss = SgdLoss::hinge;
  CHECK_THROWS_AS(SGDRegressor{regression}, ShapeError);
  CHECK_THROWS_AS(SGDRegressor().fit(x, floats({1, 2, 3}, {3, 1})), ShapeError);
}
