// SPDX-License-Identifier: MIT
#include "cli/grid_search.h"

#include <iterator>
#include <utility>

#include "base/error.h"
#include "cli/for_option.h"
#include "cli/text.h"
#include "ml/model/registry.h"
#include "ml/model_selection/cross_val_score.h"
#include "ml/preprocessing/standard_scaler.h"
#include "ml/progress.h"

namespace kaiseki::cli {
namespace {

constexpr size_t kMostCandidates = 10'000;

/// A value and its text.
struct GridValue {
  Json value;
  std::string text;
};

/// "1,2", or a list of JSON, whose values may have commas.
std::vector<GridValue> values_of(const std::string& text) {
  std::vector<GridValue> values;
  if (text.starts_with('[')) {
    for (const Json& item : parse_json(text, "--grid").items)
      values.push_back({item, format_json_line(item)});
    return values;
  }
  for (const std::string& part : split(text, ',')) values.push_back({setting_value(part), part});
  return values;
}

}  // namespace

Json setting_value(const std::string& text) {
  try {
    return parse_json(text, "setting");
  } catch (const ParseError&) {
    return text;
  }
}

std::vector<GridCandidate> grid_candidates(const Json& settings,
                                           const std::vector<std::string>& grid) {
  std::vector<GridCandidate> candidates{{settings, {}}};
  for (const std::string& argument : grid) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == argument.size())
      throw Error("--grid: expected NAME=VALUE,VALUE,..., got '" + shortened(argument) + "'");
    const std::string name = argument.substr(0, equals);
    if (candidates[0].settings.find(name))
      throw Error("--grid: expected each name once, also in --set, got '" + shortened(name) +
                  "' again");
    std::vector<GridCandidate> more;
    for (const GridCandidate& candidate : candidates)
      for (const GridValue& value : values_of(argument.substr(equals + 1))) {
        GridCandidate next = candidate;
        next.settings.set(name, value.value);
        next.params.emplace_back(name, value.text);
        more.push_back(std::move(next));
      }
    if (more.empty())
      throw Error("--grid: expected a value or more, got '" + shortened(argument) + "'");
    candidates = std::move(more);
    if (candidates.size() > kMostCandidates)
      throw Error("--grid: expected at most 10,000 combinations, got more");
  }
  return candidates;
}

GridScorer::GridScorer(GridData data)
    : data_(std::move(data)), folds_(ml::cross_val_folds(data_.y, {.n_splits = data_.folds})) {}

int64_t GridScorer::test_samples(int64_t fold) const {
  return folds_[static_cast<size_t>(fold)].test.dim(0);
}

double GridScorer::score(std::string_view model, const Json& settings, int64_t fold) {
  if (fold_ != fold) {
    fold_.reset();
    parts_ = ml::fold_parts(data_.x, data_.y, folds_[static_cast<size_t>(fold)]);
    if (data_.scale) {
      ml::StandardScaler scaler;
      parts_.x_train = scaler.fit_transform(parts_.x_train);
      parts_.x_test = scaler.transform(parts_.x_test);
    }
    fold_ = fold;
  }
  const auto own = ml::make_model(model, settings, "--grid");
  own->fit(parts_.x_train, parts_.y_train);
  return own->score(parts_.x_test, parts_.y_test);
}

void check_candidates(std::string_view model, const std::vector<GridCandidate>& candidates) {
  for (const GridCandidate& candidate : candidates)
    for_option("--grid", [&] { ml::make_model(model, candidate.settings); });
}

std::vector<ml::SearchResult> search_grid(std::string_view model,
                                          const std::vector<GridCandidate>& candidates,
                                          const GridData& data) {
  check_candidates(model, candidates);
  std::vector<ml::SearchResult> results;
  for (const GridCandidate& candidate : candidates)
    results.emplace_back().params = candidate.params;
  GridScorer scorer(data);
  int64_t done = 0;
  const int64_t total = std::ssize(candidates) * scorer.folds();
  for (int64_t fold = 0; fold < scorer.folds(); ++fold)
    for (size_t c = 0; c < candidates.size(); ++c) {
      ml::report_progress("fits", done++, total);
      results[c].split_test_scores.push_back(
          for_option("--grid", [&] { return scorer.score(model, candidates[c].settings, fold); }));
    }
  ml::summarize(results);
  return results;
}

}  // namespace kaiseki::cli
