// SPDX-License-Identifier: MIT
// Shifts and scales each feature to a given range.
#pragma once

#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class Archive;

struct MinMaxScalerOptions {
  double low = 0, high = 1;
  bool clip = false;  // whether transform() moves values outside of the range to its ends
};

/// x is f32 [n, features], on any device. All throw ShapeError, also for NaN and infinity.
class MinMaxScaler {
 public:
  /// Requires low < high.
  explicit MinMaxScaler(MinMaxScalerOptions options = {});

  void fit(const Tensor& x);
  /// Extends the ranges seen before.
  void partial_fit(const Tensor& x);
  /// (x - data_min) * scale + low. A feature with equal values becomes `low`.
  Tensor transform(const Tensor& x) const;
  Tensor fit_transform(const Tensor& x);
  Tensor inverse_transform(const Tensor& x) const;

  /// [features] each: the smallest and the largest value seen.
  const std::vector<double>& data_min() const { return min_; }
  const std::vector<double>& data_max() const { return max_; }
  std::vector<double> scale() const;
  int64_t samples_seen() const { return count_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  Tensor apply(const Tensor& x, std::string_view expression, std::string_view name) const;

  MinMaxScalerOptions options_;
  std::vector<double> min_, max_;
  int64_t count_ = 0;
};

}  // namespace kaiseki::ml
