// SPDX-License-Identifier: MIT
// The results of a search over candidates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ml/model_selection/param_grid.h"

namespace kaiseki::ml {

struct SearchResult {
  ParamValues params;
  std::vector<double> split_test_scores;  // of each fold
  double mean_test_score = 0;
  double std_test_score = 0;    // the population's, over the folds
  int64_t rank_test_score = 0;  // 1 for the best mean. Equal means have equal ranks. NaN is last
};

/// Sets mean, standard deviation and rank from the scores of the folds.
void summarize(std::vector<SearchResult>& results);
/// The first result of rank 1.
int64_t best_result(const std::vector<SearchResult>& results);
/// A table with one line for each candidate, in the order of their ranks.
std::string to_string(const std::vector<SearchResult>& results);

}  // namespace kaiseki::ml
