// SPDX-License-Identifier: MIT
// Selects settings of a model by cross-validation, for kaiseki fit --grid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "matrix/tensor.h"
#include "ml/model_selection/search_results.h"
#include "ml/preprocessing/split.h"

namespace kaiseki::cli {

/// The JSON value of a setting. A text that is no JSON is a JSON text: it needs no quotes.
Json setting_value(const std::string& text);

/// A candidate: its settings, and the parameters that vary between candidates.
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

/// Computes the scores of settings on the folds of the data. It keeps the parts of the last fold,
/// so ask for all scores of a fold in a row.
class GridScorer {
 public:
  explicit GridScorer(GridData data);
  int64_t folds() const { return static_cast<int64_t>(folds_.size()); }
  /// The number of samples that the fold is tested with.
  int64_t test_samples(int64_t fold) const;
  /// Throws the errors of the model.
  double score(std::string_view model, const Json& settings, int64_t fold);

 private:
  const GridData data_;
  const std::vector<ml::SplitIndices> folds_;
  std::optional<int64_t> fold_;  // of `parts_`
  ml::TrainTestParts parts_;
};

/// Throws Error with the option's name if a candidate has settings that the model refuses.
void check_candidates(std::string_view model, const std::vector<GridCandidate>& candidates);

/// The scores of all candidates of one model, with ranks. Reports its progress (ml/progress.h).
std::vector<ml::SearchResult> search_grid(std::string_view model,
                                          const std::vector<GridCandidate>& candidates,
                                          const GridData& data);

}  // namespace kaiseki::cli
