// SPDX-License-Identifier: MIT
// Predictions from the nearest samples.
#pragma once

#include <cstdint>
#include <vector>

#include "ml/neighbors/nearest_neighbors.h"
#include "ml/neighbors/votes.h"

namespace kaiseki::ml {

class Archive;

struct KNeighborsOptions {
  int64_t n_neighbors = 5;
  NeighborWeights weights = NeighborWeights::uniform;
  NeighborsAlgorithm algorithm = NeighborsAlgorithm::automatic;
  int64_t leaf_size = 30;
};

/// Predicts the class with the largest sum of weights among the neighbors. If sums are equal, the
/// smallest class.
class KNeighborsClassifier {
 public:
  /// Throws Error for a setting out of range.
  explicit KNeighborsClassifier(KNeighborsOptions options = {});

  /// x: f32 [n, features], y: i32 [n] with any integers. Throws ShapeError.
  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // i32 [q]
  Tensor predict_proba(const Tensor& x) const;           // f32 [q, classes]; rows have the sum 1
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy
  const std::vector<int32_t>& classes() const;           // sorted
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  std::vector<double> votes(const Tensor& x) const;

  KNeighborsOptions options_;
  NearestNeighbors neighbors_;
  std::vector<int32_t> classes_, codes_;
};

/// Predicts the weighted mean of the targets of the neighbors.
class KNeighborsRegressor {
 public:
  /// Throws Error for a setting out of range.
  explicit KNeighborsRegressor(KNeighborsOptions options = {});

  /// x: f32 [n, features], y: f32 [n] or [n, outputs]. Throws ShapeError.
  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // f32 [q] or [q, outputs]
  double score(const Tensor& x, const Tensor& y) const;  // R^2
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  KNeighborsOptions options_;
  NearestNeighbors neighbors_;
  Tensor targets_;
};

}  // namespace kaiseki::ml
