// SPDX-License-Identifier: MIT
#include "ml/model_selection/search_results.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

namespace kaiseki::ml {
namespace {

/// NaN is worse than every number.
bool better(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a > b; }

}  // namespace

void summarize(std::vector<SearchResult>& results) {
  for (SearchResult& result : results) {
    // In ascending order, equal scores in other folds give an equal mean.
    std::vector<double> scores = result.split_test_scores;
    if (std::none_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); }))
      std::sort(scores.begin(), scores.end());
    const auto count = static_cast<double>(scores.size());
    result.mean_test_score = std::accumulate(scores.begin(), scores.end(), 0.0) / count;
    double squares = 0;
    for (double score : scores) squares += std::pow(score - result.mean_test_score, 2);
    result.std_test_score = std::sqrt(squares / count);
  }
  for (SearchResult& result : results)
    result.rank_test_score =
        1 + std::count_if(results.begin(), results.end(), [&](const SearchResult& other) {
          return better(other.mean_test_score, result.mean_test_score);
        });
}

int64_t best_result(const std::vector<SearchResult>& results) {
  const auto first = [](const SearchResult& r) { return r.rank_test_score == 1; };
  return std::find_if(results.begin(), results.end(), first) - results.begin();
}

std::string to_string(const std::vector<SearchResult>& results) {
  std::vector<size_t> order(results.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return results[a].rank_test_score < results[b].rank_test_score;
  });
  std::ostringstream table;
  table << "rank  mean    std     parameters\n" << std::fixed << std::setprecision(4);
  for (size_t i : order) {
    const SearchResult& result = results[i];
    table << std::left << std::setw(6) << result.rank_test_score << std::setw(8)
          << result.mean_test_score << std::setw(7) << result.std_test_score;
    for (const auto& param : result.params) table << ' ' << param.first << '=' << param.second;
    table << '\n';
  }
  return table.str();
}

}  // namespace kaiseki::ml
