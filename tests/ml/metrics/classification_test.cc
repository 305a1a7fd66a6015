// SPDX-License-Identifier: MIT
#include "ml/metrics/classification.h"

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("classification metrics: equal scikit-learn's, for labels that are any integers") {
  const MlCases cases("metrics.txt");
  for (Device device : all_devices())
    for (const std::string name : {"two", "four"}) {
      CAPTURE(name);
      const Tensor truth = labels(cases[name + ".truth"], device);
      const Tensor predicted = labels(cases[name + ".predicted"], device);
      CHECK(accuracy_score(truth, predicted) ==
            doctest::Approx(cases[name + ".accuracy"].values[0]));
      const std::vector<int32_t> counts = confusion_matrix(truth, predicted).to_vector<int32_t>();
      CHECK(difference(std::vector<double>(counts.begin(), counts.end()),
                       cases[name + ".confusion"].values) == 0);
      const std::pair<std::string, ScoreAverage> averages[] = {
          {"micro", ScoreAverage::micro},
          {"macro", ScoreAverage::macro},
          {"weighted", ScoreAverage::weighted}};
      for (const auto& average : averages) {
        const ScoreOptions options{.average = average.second};
        CHECK(difference(
                  {precision_score(truth, predicted, options),
                   recall_score(truth, predicted, options), f1_score(truth, predicted, options)},
                  cases[name + "." + average.first].values) < 1e-8);
      }
      const ClassScores scores = precision_recall_fscore_support(truth, predicted);
      std::vector<double> all = scores.precision;
      all.insert(all.end(), scores.recall.begin(), scores.recall.end());
      all.insert(all.end(), scores.f1.begin(), scores.f1.end());
      all.insert(all.end(), scores.support.begin(), scores.support.end());
      CHECK(difference(all, cases[name + ".classes"].values) < 1e-8);
    }
  const Tensor truth = labels(cases["two.truth"]), predicted = labels(cases["two.predicted"]);
  CHECK(difference({precision_score(truth, predicted), recall_score(truth, predicted),
                    f1_score(truth, predicted)},
                   cases["two.binary"].values) < 1e-8);
}

TEST_CASE("classification metrics: labels, zero division and errors") {
  const Tensor truth = integers({1, 1, 2}, {3}), none = integers({2, 2, 2}, {3});
  CHECK(confusion_matrix(truth, none, {2, 1}).to_vector<int32_t>() ==
        std::vector<int32_t>{1, 0, 2, 0});
  CHECK(precision_score(truth, none) == 0);
  CHECK(precision_score(truth, none, {.zero_division = 1}) == 1);
  CHECK_THROWS_WITH_AS(
      f1_score(integers({0, 1, 2}, {3}), none),
      "[f1_score] expected two classes for a binary score, got 3; select another average",
      ShapeError);
  CHECK_THROWS_AS(f1_score(integers({4, 5, 5}, {3}), integers({4, 4, 4}, {3})), ShapeError);
  CHECK_THROWS_AS(accuracy_score(truth, integers({1, 2}, {2})), ShapeError);
  CHECK_THROWS_AS(accuracy_score(Tensor(), truth), ShapeError);
  CHECK_THROWS_AS(accuracy_score(integers({}, {0}), integers({}, {0})), ShapeError);
  CHECK_THROWS_AS(accuracy_score(floats({1, 2, 3}, {3}), truth), ShapeError);
  CHECK_THROWS_AS(confusion_matrix(truth, none, {2, 2}), ShapeError);
}
