// SPDX-License-Identifier: MIT
// Random forests (Breiman, "Random forests", 2001): trees of bootstrap samples that consider some
// features for each split. Trees are grown in parallel on the CPU.
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

struct RandomForestClassifierOptions {
  int64_t n_estimators = 100;  // trees
  TreeCriterion criterion = TreeCriterion::gini;
  std::optional<int64_t> max_depth = {};          // without it, no limit
  int64_t min_samples_split = 2;                  // a node of fewer different samples is a leaf
  int64_t min_samples_leaf = 1;                   // of each child
  MaxFeatures max_features = FeatureCount::sqrt;  // or all, log2, a number, a part
  double min_impurity_decrease = 0;               // times the part of the samples in the node
  bool bootstrap = true;                          // else each tree has all samples
  bool oob_score = false;                         // whether fit() computes the score of samples
  ClassWeights class_weight = {};                 // `balanced`: by all samples
  uint64_t seed = 0;
};

/// Predicts the class with the largest mean of the parts that the trees give. Of equally good
/// splits of a node, a random one is selected. The result does not depend on the number of threads.
/// x is f32 [n, features], y is i32 [n] with any integers. All throw ShapeError, also for NaN and
/// infinity.
class RandomForestClassifier {
 public:
  /// Throws Error for a setting out of range.
  explicit RandomForestClassifier(RandomForestClassifierOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // i32 [q]
  Tensor predict_proba(const Tensor& x) const;           // f32 [q, classes]; rows have the sum 1
  Tensor apply(const Tensor& x) const;                   // i32 [q, trees]: the nodes of the leaves
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy

  const std::vector<int32_t>& classes() const;  // sorted
  const std::vector<Tree>& trees() const;
  Tensor feature_importances() const;  // f32 [features], with the sum 1
  /// The accuracy on the training samples, each by the trees that did not have it. Samples that all
  /// trees had do not count. Requires the option.
  double oob_score() const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  RandomForestClassifierOptions options_;
  std::vector<int32_t> classes_;
  std::vector<Tree> trees_;
  std::optional<double> oob_score_;
};

struct RandomForestRegressorOptions {
  int64_t n_estimators = 100;
  std::optional<int64_t> max_depth = {};
  int64_t min_samples_split = 2, min_samples_leaf = 1;
  MaxFeatures max_features = FeatureCount::all;
  double min_impurity_decrease = 0;
  bool bootstrap = true, oob_score = false;
  uint64_t seed = 0;
};

/// Predicts the mean of the trees. The criterion is the squared error. x is f32 [n, features], y is
/// f32 [n] or [n, outputs]. All throw ShapeError, also for NaN and infinity.
class RandomForestRegressor {
 public:
  /// Throws Error for a setting out of range.
  explicit RandomForestRegressor(RandomForestRegressorOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // f32 [q] or [q, outputs]
  Tensor apply(const Tensor& x) const;                   // i32 [q, trees]: the nodes of the leaves
  double score(const Tensor& x, const Tensor& y) const;  // R^2

  const std::vector<Tree>& trees() const;
  Tensor feature_importances() const;
  /// The R^2 on the training samples, as for the classifier.
  double oob_score() const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  RandomForestRegressorOptions options_;
  bool one_output_ = true;
  std::vector<Tree> trees_;
  std::optional<double> oob_score_;
};

}  // namespace kaiseki::ml
