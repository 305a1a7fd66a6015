// SPDX-License-Identifier: MIT
#include "ml/model_selection/grid_search_cv.h"

#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "ml/linear/ridge.h"
#include "ml/preprocessing/standard_scaler.h"
#include "ml/svm/svc.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

std::vector<SearchCandidate<SVC>> svc_grid() {
  SVCOptions base;
  base.tol = 1e-6;
  return param_grid<SVC>(base, vary("C", &SVCOptions::c, {0.1, 1, 10}),
                         vary("gamma", &SVCOptions::gamma, {GammaRule::scale, 0.01, 0.1}));
}

std::vector<double> column(const std::vector<SearchResult>& results,
                           const std::function<double(const SearchResult&)>& get) {
  std::vector<double> values;
  for (const SearchResult& result : results) values.push_back(get(result));
  return values;
}

/// An estimator of a user: it scales, and then classifies.
class ScaledSVC {
 public:
  explicit ScaledSVC(SVCOptions options) : svc_(options) {}
  void fit(const Tensor& x, const Tensor& y) {
    scaler_.fit(x);
    svc_.fit(scaler_.transform(x), y);
  }
  Tensor predict(const Tensor& x) const { return svc_.predict(scaler_.transform(x)); }
  double score(const Tensor& x, const Tensor& y) const {
    return svc_.score(scaler_.transform(x), y);
  }

 private:
  StandardScaler scaler_;
  SVC svc_;
};

/// Its score is a number, and it may throw.
class Fixed {
 public:
  explicit Fixed(double score) : score_(score) {}
  void fit(const Tensor&, const Tensor&) {
    if (score_ < 0) throw std::runtime_error("below 0");
  }
  Tensor predict(const Tensor& x) const { return x; }
  double score(const Tensor&, const Tensor&) const { return score_; }

 private:
  double score_;
};

std::vector<SearchCandidate<Fixed>> fixed(const std::vector<double>& scores) {
  std::vector<SearchCandidate<Fixed>> candidates;
  for (double score : scores) candidates.push_back({{}, [score] { return Fixed(score); }});
  return candidates;
}

}  // namespace

TEST_CASE("GridSearchCV: means, deviations and ranks equal scikit-learn's") {
  const MlCases cases("model_selection.txt");
  for (const std::string name : {"iris", "cancer"}) {
    CAPTURE(name);
    MlSet set = ml_set(name);
    if (name != "iris") set.x = scaled(set.x);
    GridSearchCV search(svc_grid());
    search.fit(set.x, set.y);
    const std::vector<SearchResult>& results = search.results();
    CHECK(difference(column(results, [](auto& r) { return r.mean_test_score; }),
                     cases[name + ".mean_test_score"].values) < 1e-6);
    CHECK(difference(column(results, [](auto& r) { return r.std_test_score; }),
                     cases[name + ".std_test_score"].values) < 1e-6);
    CHECK(difference(column(results, [](auto& r) { return double(r.rank_test_score); }),
                     cases[name + ".rank_test_score"].values) == 0);
    const std::vector<double>& best = cases[name + ".best"].values;
    CHECK(search.best_index() == static_cast<int64_t>(best[0]));
    CHECK(search.best_score() == doctest::Approx(best[1]));
    CHECK(search.score(set.x, set.y) == doctest::Approx(best[2]));  // refit with all samples
    CHECK(search.predict(set.x).dtype() == DType::i32);
  }
  const MlSet tall = regression_set(80, 7, 1, 10);
  GridSearchCV ridge(
      param_grid<Ridge>(RidgeOptions{}, vary("alpha", &RidgeOptions::alpha, {0.01, 1, 100})));
  ridge.fit(tall.x, tall.y);
  CHECK(difference(column(ridge.results(), [](auto& r) { return r.mean_test_score; }),
                   cases["tall.mean_test_score"].values) < 1e-5);
  CHECK(ridge.best_params() == ParamValues{{"alpha", "0.01"}});
}

TEST_CASE("GridSearchCV: an estimator of the user, joined grids, and its progress") {
  const MlSet set = ml_set("cancer");
  auto candidates = param_grid<ScaledSVC>(SVCOptions{}, vary("c", &SVCOptions::c, {0.5, 5}));
  SVCOptions linear;
  linear.kernel = SvmKernel::linear;
  for (auto& candidate : param_grid<ScaledSVC>(linear, vary("linear c", &SVCOptions::c, {0.01})))
    candidates.push_back(candidate);
  std::vector<SearchProgress> steps;
  GridSearchOptions options;
  options.cv = {.n_splits = 3, .shuffle = true, .seed = 4};
  options.progress = [&](const SearchProgress& progress) { steps.push_back(progress); };
  GridSearchCV search(candidates, options);
  search.fit(set.x, set.y);
  CHECK(search.best_score() > 0.95);
  CHECK(search.results()[2].params == ParamValues{{"linear c", "0.01"}});
  REQUIRE(steps.size() == 9);
  for (size_t i = 0; i < steps.size(); ++i) {
    CHECK(steps[i].done == static_cast<int64_t>(i) + 1);
    CHECK(steps[i].total == 9);
    CHECK(steps[i].score == search.results()[steps[i].candidate].split_test_scores[steps[i].fold]);
  }
  const std::vector<SearchResult> first = search.results();
  search.fit(set.x, set.y);
  for (size_t i = 0; i < first.size(); ++i)
    CHECK(first[i].split_test_scores == search.results()[i].split_test_scores);
}

TEST_CASE("param_grid: the last axis changes first, and texts of values") {
  const auto grid = param_grid<SVC>(
      SVCOptions{},
      vary("kernel", &SVCOptions::kernel, {SvmKernel::rbf, SvmKernel::poly}, {"rbf", "poly"}),
      vary("shape", &SVCOptions::decision_function_shape,
           {DecisionShape::ovr, DecisionShape::ovo}));
  REQUIRE(grid.size() == 4);
  CHECK(grid[1].params == ParamValues{{"kernel", "rbf"}, {"shape", "1"}});
  CHECK(grid[2].params == ParamValues{{"kernel", "poly"}, {"shape", "0"}});
  CHECK(svc_grid()[3].params == ParamValues{{"C", "1"}, {"gamma", "scale"}});
  CHECK(svc_grid()[4].params == ParamValues{{"C", "1"}, {"gamma", "0.01"}});
  CHECK(param_grid<SVC>(SVCOptions{}).size() == 1);
  CHECK(param_grid<SVC>(SVCOptions{}, vary("c", &SVCOptions::c, {})).empty());
}

TEST_CASE("GridSearchCV: ranks of equal and missing scores, and the table") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = Tensor::zeros({10, 1}), y = Tensor::zeros({10});
  GridSearchCV search(fixed({0.5, nan, 0.75, 0.75, 0.25, nan}));
  search.fit(x, y);
  CHECK(column(search.results(), [](auto& r) { return double(r.rank_test_score); }) ==
        std::vector<double>{3, 5, 1, 1, 4, 5});
  CHECK(search.best_index() == 2);
  std::vector<SearchResult> results(2);
  results[0].params = {{"c", "1"}, {"gamma", "scale"}};
  results[0].split_test_scores = {0.5, 0.75};
  results[1].params = {{"c", "10"}, {"gamma", "0.1"}};
  results[1].split_test_scores = {1, 1};
  summarize(results);
  CHECK(to_string(results) ==
        "rank  mean    std     parameters\n"
        "1     1.0000  0.0000  c=10 gamma=0.1\n"
        "2     0.6250  0.1250  c=1 gamma=scale\n");
}

TEST_CASE("GridSearchCV: errors leave the former results") {
  const Tensor x = Tensor::zeros({10, 1}), y = Tensor::zeros({10});
  CHECK_THROWS_WITH_AS(GridSearchCV<Fixed>({}), "[GridSearchCV] expected at least one candidate",
                       ShapeError);
  GridSearchCV none(fixed({0.5}), {.refit = false});
  CHECK_THROWS_AS(none.best_index(), ShapeError);
  CHECK_THROWS_AS(none.best_score(), ShapeError);
  none.fit(x, y);
  CHECK(none.best_score() == 0.5);
  CHECK_THROWS_AS(none.predict(x), ShapeError);
  GridSearchCV throws(fixed({0.5, -1}));
  CHECK_THROWS_AS(throws.fit(x, y), std::runtime_error);
  CHECK(throws.results().empty());
  CHECK_THROWS_AS(throws.fit(x, Tensor::zeros({9})), ShapeError);
  bool stops = false;
  GridSearchOptions options;
  options.progress = [&](const SearchProgress&) {
    if (stops) throw std::runtime_error("stopped");
  };
  GridSearchCV stopped(fixed({0.5, 1}), options);
  stopped.fit(x, y);
  stops = true;
  CHECK_THROWS_AS(stopped.fit(x, y), std::runtime_error);
  CHECK(stopped.best_index() == 1);
}
