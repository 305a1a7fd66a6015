// SPDX-License-Identifier: MIT
// Selects settings of a model by cross-validation, for kaiseki fit --grid.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "matrix/tensor.h"
#include "ml/model_selection/search_results.h"

namespace kaiseki::cli {

/// The JSON value of a setting. A text that is no JSON is a JSON text: it needs no quotes.
Json setting_value(const std::string& text);

/// A candidate: its settings, and what is varied in them.
struct GridCandidate {
  Json settings;
  ml::ParamValues params;
};

/// All combinations of "C=0.1,1,10" and so on with `settings`. A value that is no JSON is a text.
/// Throws Error with the option's name.
std::vector<GridCandidate> grid_candidates(const Json& settings,
                                           const std::vector<std::string>& grid);

struct GridData {
  Tensor x, y;
  bool scale;  // whether each fold scales its samples by those it learns from
  int64_t folds;
};

/// The scores of all candidates of one model, with ranks. `progress` gets the number of scores that
/// are done, and of all.
std::vector<ml::SearchResult> search_grid(std::string_view model,
                                          const std::vector<GridCandidate>& candidates,
                                          const GridData& data,
                                          const std::function<void(int64_t, int64_t)>& progress);

}  // namespace kaiseki::cli
