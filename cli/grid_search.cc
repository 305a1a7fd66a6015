// SPDX-License-Identifier: MIT
#include "cli/grid_search.h"

#include "base/error.h"
#include "cli/for_option.h"
#include "cli/text.h"
#include "ml/model/registry.h"
#include "ml/model_selection/cross_val_score.h"
#include "ml/preprocessing/standard_scaler.h"

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

std::vector<ml::SearchResult> search_grid(std::string_view model,
                                          const std::vector<GridCandidate>& candidates,
                                          const GridData& data,
                                          const std::function<void(int64_t, int64_t)>& progress) {
  // Before the work, because a setting may be wrong.
  std::vector<ml::SearchResult> results;
  for (const GridCandidate& candidate : candidates) {
    for_option("--grid", [&] { ml::make_model(model, candidate.settings, "--grid"); });
    results.emplace_back().params = candidate.params;
  }
  const std::vector<ml::SplitIndices> folds = ml::cross_val_folds(data.y, {.n_splits = data.folds});
  int64_t done = 0;
  const auto total = static_cast<int64_t>(candidates.size() * folds.size());
  for (const ml::SplitIndices& fold : folds) {
    ml::TrainTestParts parts = ml::fold_parts(data.x, data.y, fold);
    if (data.scale) {
      ml::StandardScaler scaler;
      parts.x_train = scaler.fit_transform(parts.x_train);
      parts.x_test = scaler.transform(parts.x_test);
    }
    for (size_t c = 0; c < candidates.size(); ++c) {
      progress(done++, total);
      const auto own = ml::make_model(model, candidates[c].settings, "--grid");
      own->fit(parts.x_train, parts.y_train);
      results[c].split_test_scores.push_back(own->score(parts.x_test, parts.y_test));
    }
  }
  ml::summarize(results);
  return results;
}

}  // namespace kaiseki::cli
