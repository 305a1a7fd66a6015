// SPDX-License-Identifier: MIT
// Predictions from all samples within a radius.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ml/neighbors/nearest_neighbors.h"
#include "ml/neighbors/votes.h"

namespace kaiseki::ml {

class Archive;

struct RadiusNeighborsOptions {
  double radius = 1;
  NeighborWeights weights = NeighborWeights::uniform;
  NeighborsAlgorithm algorithm = NeighborsAlgorithm::automatic;
  int64_t leaf_size = 30;
};

struct RadiusNeighborsClassifierOptions : RadiusNeighborsOptions {
  std::optional<int64_t> outlier_label;  // of queries without neighbors; none: they are an error
};

/// Predicts the class with the largest sum of weights among the samples within `radius`. If sums
/// are equal, the smallest class.
class RadiusNeighborsClassifier {
 public:
  /// Throws Error for a setting out of range.
  explicit RadiusNeighborsClassifier(RadiusNeighborsClassifierOptions options = {});

  /// x: f32 [n, features], y: i32 [n] with any integers. Throws ShapeError.
  void fit(const Tensor& x, const Tensor& y);
  /// i32 [q]. Throws Error for a query without neighbors if there is no outlier_label.
  Tensor predict(const Tensor& x) const;
  /// f32 [q, classes]; rows have the sum 1. A query without neighbors has 1 for outlier_label, or
  /// only zeros if that is none of the classes. Throws Error as predict().
  Tensor predict_proba(const Tensor& x) const;
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy
  const std::vector<int32_t>& classes() const;           // sorted
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  template <class Body>
  void for_votes(const Tensor& x, const Body& body) const;

  RadiusNeighborsClassifierOptions options_;
  NearestNeighbors neighbors_;
  std::vector<int32_t> classes_, codes_;
};

/// Predicts the weighted mean of the targets of the samples within `radius`.
class RadiusNeighborsRegressor {
 public:
  /// Throws Error for a setting out of range.
  explicit RadiusNeighborsRegressor(RadiusNeighborsOptions options = {});

  /// x: f32 [n, features], y: f32 [n] or [n, outputs]. Throws ShapeError.
  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;  // f32 [q] or [q, outputs]; NaN without neighbors
  /// R^2. Throws Error for a query without neighbors.
  double score(const Tensor& x, const Tensor& y) const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  RadiusNeighborsOptions options_;
  NearestNeighbors neighbors_;
  Tensor targets_;
};

}  // namespace kaiseki::ml
