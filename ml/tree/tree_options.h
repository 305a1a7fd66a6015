// SPDX-License-Identifier: MIT
// The settings that decision trees and forests share.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "ml/draw.h"

namespace kaiseki::ml {

enum class TreeCriterion : uint8_t { gini, entropy };
enum class FeatureCount : uint8_t { all, sqrt, log2 };

/// The number of features that a split considers. It is a rule, an integer, or a part of all
/// features as a double in (0, 1]. If all of these features are constant in a node, more are drawn.
using MaxFeatures = std::variant<FeatureCount, int64_t, double>;

/// When a node is split, and how.
struct TreeGrowth {
  std::optional<int64_t> max_depth = {};
  int64_t min_samples_split = 2, min_samples_leaf = 1;
  double min_impurity_decrease = 0;
  int64_t features = 1;  // considered for each split
  uint64_t seed = 0;     // of the features
  uint64_t tree = 0;     // each tree of a forest has its own numbers
  bool forest = false;   // then one thread grows it, and of equal splits, a random one is the best
};

/// Throws Error for a setting out of range.
template <class Options>
void check_tree_options(const Options& options, std::string_view name) {
  if (options.max_depth) check_at_least(*options.max_depth, 1, "max_depth", name);
  check_at_least(options.min_samples_split, 2, "min_samples_split", name);
  check_at_least(options.min_samples_leaf, 1, "min_samples_leaf", name);
  if (!(options.min_impurity_decrease >= 0 && std::isfinite(options.min_impurity_decrease)))
    throw Error(message(name, "expected a min_impurity_decrease of 0 or more, got ",
                        options.min_impurity_decrease));
  if (const auto* count = std::get_if<int64_t>(&options.max_features))
    check_at_least(*count, 1, "max_features", name);
  const auto* part = std::get_if<double>(&options.max_features);
  if (part && !(*part > 0 && *part <= 1))
    throw Error(message(name, "expected a part max_features above 0 and up to 1, got ", *part));
}

/// The number of features that a split considers. Throws ShapeError if there are fewer.
inline int64_t feature_count(const MaxFeatures& max_features, int64_t features,
                             std::string_view name) {
  const double all = static_cast<double>(features);
  double count = all;
  if (const auto* number = std::get_if<int64_t>(&max_features)) {
    require(*number <= features, name, "expected max_features of ", features, " or less, got ",
            *number);
    return *number;
  }
  if (const auto* part = std::get_if<double>(&max_features)) count = *part * all;
  if (const auto* rule = std::get_if<FeatureCount>(&max_features)) {
    if (*rule == FeatureCount::sqrt) count = std::sqrt(all);
    if (*rule == FeatureCount::log2) count = std::log2(all);
  }
  return std::max<int64_t>(1, static_cast<int64_t>(count));
}

template <class Options>
TreeGrowth tree_growth(const Options& options, int64_t features, std::string_view name) {
  TreeGrowth growth;
  growth.max_depth = options.max_depth;
  growth.min_samples_split = options.min_samples_split;
  growth.min_samples_leaf = options.min_samples_leaf;
  growth.min_impurity_decrease = options.min_impurity_decrease;
  growth.features = feature_count(options.max_features, features, name);
  growth.seed = options.seed;
  return growth;
}

}  // namespace kaiseki::ml
