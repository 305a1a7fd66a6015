// SPDX-License-Identifier: MIT
#include "ml/metrics/ranking.h"

#include <limits>

#include "base/error.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("roc_curve and roc_auc_score: equal scikit-learn's, with equal scores") {
  const MlCases cases("metrics.txt");
  const Tensor truth = labels(cases["two.truth"]);
  const MlCase& s = cases["two.scores"];
  const Tensor scores = floats(s.values, {s.columns});
  for (bool drop : {false, true}) {
    const RocCurve curve = roc_curve(truth, scores, {.drop_intermediate = drop});
    std::vector<double> all = curve.fpr;
    all.insert(all.end(), curve.tpr.begin(), curve.tpr.end());
    all.insert(all.end(), curve.thresholds.begin(), curve.thresholds.end());
    CHECK(difference(all, cases[drop ? "two.roc.1" : "two.roc.0"].values) < 1e-8);
  }
  CHECK(roc_auc_score(truth, scores) == doctest::Approx(cases["two.auc"].values[0]));
  const Tensor four = labels(cases["four.truth"]), p = matrix(cases["four.probabilities"]);
  for (bool weighted : {false, true})
    for (MultiClass multi : {MultiClass::one_vs_rest, MultiClass::one_vs_one}) {
      const std::string name = std::string("four.auc.") +
                               (multi == MultiClass::one_vs_rest ? "ovr." : "ovo.") +
                               (weighted ? "weighted" : "macro");
      CHECK(roc_auc_score(four, p, {multi, weighted}) ==
            doctest::Approx(cases[name].values[0]).epsilon(1e-7));
    }
}

TEST_CASE("roc_curve and roc_auc_score: one class, wrong shapes and NaN throw") {
  const Tensor scores = floats({1, 2, 3}, {3});
  CHECK_THROWS_WITH_AS(roc_curve(integers({1, 1, 1}, {3}), scores),
                       "[roc_curve] expected positive and negative samples, got 3 and 0",
                       ShapeError);
  CHECK_THROWS_AS(roc_auc_score(integers({1, 1, 1}, {3}), scores), ShapeError);
  CHECK_THROWS_AS(roc_auc_score(integers({0, 1, 2}, {3}), scores), ShapeError);
  CHECK_THROWS_AS(roc_auc_score(integers({0, 1}, {2}), scores), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(roc_curve(integers({0, 1, 1}, {3}), floats({1, nan, 2}, {3})), ShapeError);
}
