// SPDX-License-Identifier: MIT
// Selects the best of several estimators by cross-validation.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ml/model_selection/cross_val_score.h"
#include "ml/model_selection/search_results.h"

namespace kaiseki::ml {

/// One score of a search. `done` of `total` are known.
struct SearchProgress {
  int64_t done, total;
  int64_t candidate, fold;
  double score;
};

struct GridSearchOptions {
  CrossValOptions cv = {};
  bool refit = true;  // the best estimator learns from all samples
  /// Called after each score. An exception ends the search.
  std::function<void(const SearchProgress&)> progress = {};
};

/// Computes the scores of all candidates on the same folds:
///
///     GridSearchCV search(param_grid<SVC>(SVCOptions{}, vary("c", &SVCOptions::c, {1, 10}),
///                                         vary("gamma", &SVCOptions::gamma, {0.1, 0.01})));
///     search.fit(x, y);
///     search.best_estimator().predict(x);
///
/// Candidates run one after another, because estimators use all threads. The result depends only on
/// the data, the candidates and the seed. If a candidate throws, fit() throws the same and keeps
/// its former results.
template <Estimator Model>
class GridSearchCV {
 public:
  /// Requires at least one candidate. Throws ShapeError.
  explicit GridSearchCV(std::vector<SearchCandidate<Model>> candidates,
                        GridSearchOptions options = {})
      : candidates_(std::move(candidates)), options_(std::move(options)) {
    require(!candidates_.empty(), kName, "expected at least one candidate");
  }

  /// x is [n, ...], y is i32 [n], or f32 [n] or [n, outputs]. Throws ShapeError.
  void fit(const Tensor& x, const Tensor& y) {
    const std::vector<SplitIndices> folds = cross_val_folds(y, options_.cv);
    std::vector<SearchResult> results(candidates_.size());
    for (size_t c = 0; c < results.size(); ++c) results[c].params = candidates_[c].params;
    SearchProgress progress{0, static_cast<int64_t>(results.size() * folds.size()), 0, 0, 0};
    for (const SplitIndices& fold : folds) {
      const TrainTestParts parts = fold_parts(x, y, fold);
      for (progress.candidate = 0; progress.candidate < std::ssize(results); ++progress.candidate) {
        const auto c = static_cast<size_t>(progress.candidate);
        Model model = candidates_[c].make();
        model.fit(parts.x_train, parts.y_train);
        progress.score = model.score(parts.x_test, parts.y_test);
        results[c].split_test_scores.push_back(progress.score);
        ++progress.done;
        if (options_.progress) options_.progress(progress);
      }
      ++progress.fold;
    }
    summarize(results);
    std::optional<Model> best;
    if (options_.refit) {
      best.emplace(candidates_[static_cast<size_t>(best_result(results))].make());
      best->fit(x, y);
    }
    results_ = std::move(results);
    best_ = std::move(best);
  }

  /// The results of the best estimator. These functions require a fit with `refit`.
  const Model& best_estimator() const {
    require(best_.has_value(), kName, "expected a fitted model, call fit() with refit first");
    return *best_;
  }
  Tensor predict(const Tensor& x) const { return best_estimator().predict(x); }
  double score(const Tensor& x, const Tensor& y) const { return best_estimator().score(x, y); }

  /// The results in the order of the candidates. to_string(results()) is a table.
  const std::vector<SearchResult>& results() const { return results_; }
  /// The number of the first candidate with the best mean.
  int64_t best_index() const {
    require(!results_.empty(), kName, "expected a fitted model, call fit() first");
    return best_result(results_);
  }
  /// The mean of its scores.
  double best_score() const { return best().mean_test_score; }
  const ParamValues& best_params() const { return best().params; }

 private:
  static constexpr std::string_view kName = "GridSearchCV";
  const SearchResult& best() const { return results_[static_cast<size_t>(best_index())]; }

  std::vector<SearchCandidate<Model>> candidates_;
  GridSearchOptions options_;
  std::vector<SearchResult> results_;
  std::optional<Model> best_;
};

}  // namespace kaiseki::ml
