// SPDX-License-Identifier: MIT
#include "ml/progress.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "ml/model/registry.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("Progress: the inner scope receives the reports of its time") {
  std::vector<int64_t> outer, inner;
  report_progress("steps", 1, 9);  // without a scope, nothing happens
  {
    const ProgressScope scope(
        [&](std::string_view, int64_t done, int64_t) { outer.push_back(done); });
    report_progress("steps", 2, 9);
    {
      const ProgressScope own(
          [&](std::string_view, int64_t done, int64_t) { inner.push_back(done); });
      report_progress("steps", 3, 9);
    }
    report_progress("steps", 4, 9);
  }
  report_progress("steps", 5, 9);
  CHECK(outer == std::vector<int64_t>{2, 4});
  CHECK(inner == std::vector<int64_t>{3});
}

TEST_CASE("Progress: models of many steps report them, and an exception ends the fit") {
  MlSet set = labeled_set("blobs");
  for (const std::string name : {"LogisticRegression", "Lasso", "SGDClassifier", "AROW", "KMeans",
                                 "GaussianMixture", "RandomForestClassifier", "SVC"}) {
    CAPTURE(name);
    const auto model = make_model(name);
    const Tensor y =
        name == "Lasso" ? set.x.slice(1, 0, 1).contiguous().reshape({set.x.dim(0)}) : set.y;
    int64_t reports = 0, last = -1;
    const ProgressScope scope([&](std::string_view step, int64_t done, int64_t most) {
      CHECK_FALSE(step.empty());
      CHECK(done <= most);
      last = done;
      ++reports;
    });
    model->fit(set.x, y);
    CHECK(reports > 0);
    CHECK(last >= 0);
    const ProgressScope stop([](std::string_view, int64_t, int64_t) { throw Error("stop"); });
    CHECK_THROWS_WITH_AS(make_model(name)->fit(set.x, y), "stop", Error);
  }
}
