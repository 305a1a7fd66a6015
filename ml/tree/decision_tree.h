// SPDX-License-Identifier: MIT
// Decision trees: exact greedy splits, as in scikit-learn. They are grown on the CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/classes.h"
#include "ml/tree/tree.h"
#include "ml/tree/tree_options.h"

namespace kaiseki::ml {

class Archive;

struct DecisionTreeClassifierOptions {
  TreeCriterion criterion = TreeCriterion::gini;
  std::optional<int64_t> max_depth = {};         // without it, no limit
  int64_t min_samples_split = 2;                 // a node of fewer samples is a leaf
  int64_t min_samples_leaf = 1;                  // of each child
  MaxFeatures max_features = FeatureCount::all;  // or sqrt, log2, a number, a part
  double min_impurity_decrease = 0;              // times the part of the samples in the node
  ClassWeights class_weight = {};
  uint64_t seed = 0;  // only for max_features below all
};

/// Of equally good splits, the one with the first feature is selected, then the one with the
/// smallest threshold. scikit-learn selects the feature at random. If max_features are not all, the
/// feature that was drawn first is selected.
class DecisionTreeClassifier {
 public:
  /// Throws Error for a setting out of range.
  explicit DecisionTreeClassifier(DecisionTreeClassifierOptions options = {});

  /// x: f32 [n, features], y: i32 [n] with any integers. All throw ShapeError, also for NaN and
  /// infinity. One class gives one leaf.
  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // i32 [q]; of equal parts, the first class
  Tensor predict_proba(const Tensor& x) const;           // f32 [q, classes]; rows have the sum 1
  Tensor apply(const Tensor& x) const;                   // i32 [q]: the node of the leaf
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy

  const std::vector<int32_t>& classes() const;  // sorted
  const Tree& tree() const;
  /// f32 [features]: the parts of the decrease of impurity. Their sum is 1, or 0 without a split.
  Tensor feature_importances() const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  DecisionTreeClassifierOptions options_;
  std::vector<int32_t> classes_;
  Tree tree_;
};

struct DecisionTreeRegressorOptions {
  std::optional<int64_t> max_depth = {};
  int64_t min_samples_split = 2, min_samples_leaf = 1;
  MaxFeatures max_features = FeatureCount::all;
  double min_impurity_decrease = 0;
  uint64_t seed = 0;
};

/// The criterion is the squared error. Equally good splits are as for the classifier.
class DecisionTreeRegressor {
 public:
  /// Throws Error for a setting out of range.
  explicit DecisionTreeRegressor(DecisionTreeRegressorOptions options = {});

  /// x: f32 [n, features], y: f32 [n] or [n, outputs]. All throw ShapeError, also for NaN and
  /// infinity.
  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // f32 [q] or [q, outputs]
  Tensor apply(const Tensor& x) const;                   // i32 [q]: the node of the leaf
  double score(const Tensor& x, const Tensor& y) const;  // R^2

  const Tree& tree() const;
  Tensor feature_importances() const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  DecisionTreeRegressorOptions options_;
  bool one_output_ = true;
  Tree tree_;
};

}  // namespace kaiseki::ml
