// SPDX-License-Identifier: MIT
#include "ml/model/registry.h"

#include <doctest/doctest.h>

#include <set>

#include "base/error.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

std::string error_of(const std::string& name, const std::string& settings) {
  try {
    make_model(name, parse_json(settings, "json"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Model: every kind has a name of its own, and settings that it accepts again") {
  std::set<std::string_view> names;
  for (const ModelKind& kind : model_kinds()) {
    CAPTURE(std::string(kind.name));
    CHECK(names.insert(kind.name).second);
    const auto model = make_model(kind.name);
    CHECK(model->name() == kind.name);
    CHECK(model->task() == kind.task);
    CHECK_FALSE(model->uses().empty());
    const Json settings = model->settings();
    CHECK(make_model(kind.name, parse_json(format_json(settings), "json"))->settings() == settings);
    CHECK(error_of(std::string(kind.name), R"({"no_such_setting": 1})")
              .starts_with("settings: no_such_setting: expected one of the names "));
  }
}

TEST_CASE("Model: settings reach the estimator") {
  CHECK(error_of("Ridge", R"({"alpha": -1})").find("alpha") != std::string::npos);
  CHECK(error_of("KMeans", R"({"n_clusters": "3"})") ==
        "settings: n_clusters: expected a whole number, got \"3\"");
  CHECK(error_of("PCA", R"({"n_components": "all"})") ==
        "settings: n_components: expected a number or null, got \"all\"");
  CHECK(error_of("LogisticRegression", R"({"class_weight": {"a": 1}})") ==
        "settings: class_weight: expected labels that are integers, got 'a'");
  CHECK(error_of("Regression", "{}").starts_with("[make_model] expected one of AROW, "));
  const auto model = make_model("KMeans", parse_json(R"({"n_clusters": 3})", "json"));
  const MlSet iris = ml_set("iris");
  model->fit(iris.x, {});
  CHECK(model->apply(Use::transform, iris.x).shape() == Shape{150, 3});
  CHECK(model->features() == 4);
}

TEST_CASE("Model: partial_fit learns as the estimator's, and is an error without one") {
  const MlSet iris = ml_set("iris");
  const auto numbers = iris.x.slice(1, 0, 1).contiguous().reshape({150});
  int64_t have = 0;
  for (const ModelKind& kind : model_kinds()) {
    CAPTURE(std::string(kind.name));
    const auto model = make_model(kind.name);
    const Tensor& y = kind.task == LearningTask::regression ? numbers : iris.y;
    if (!model->has_partial_fit()) {
      CHECK_THROWS_AS(model->partial_fit(iris.x, y, {0, 1, 2}), Error);
      continue;
    }
    ++have;
    model->partial_fit(iris.x, y, {0, 1, 2});
    CHECK(model->features() == 4);
    CHECK(model->apply(model->uses()[0], iris.x).dim(0) == 150);
    if (kind.task == LearningTask::classification) {
      CHECK(model->score(iris.x, y) > 0.5);
      CHECK_THROWS_AS(make_model(kind.name)->partial_fit(iris.x, y, {}), Error);
    }
  }
  CHECK(have >= 12);
}

TEST_CASE("Model: a use that the estimator does not have is an error") {
  const auto model = make_model("Ridge");
  CHECK(model->uses() == std::vector<Use>{Use::predict});
  CHECK_THROWS_WITH_AS(model->apply(Use::transform, Tensor()), "[Ridge] has no transform()", Error);
  CHECK_FALSE(make_model("PCA")->has_score());
  CHECK(make_model("KMeans")->has_score());
}
