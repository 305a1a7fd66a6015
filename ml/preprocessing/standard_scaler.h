// SPDX-License-Identifier: MIT
// Shifts and scales each feature to mean 0 and variance 1.
#pragma once

#include <vector>

#include "matrix/tensor.h"
#include "ml/moments.h"

namespace kaiseki::ml {

class Archive;

struct StandardScalerOptions {
  bool with_mean = true;
  bool with_std = true;
};

/// x is f32 [n, features], on any device. All throw ShapeError, also for NaN and infinity.
class StandardScaler {
 public:
  explicit StandardScaler(StandardScalerOptions options = {}) : options_(options) {}

  void fit(const Tensor& x);
  /// Adds the samples to those seen before.
  void partial_fit(const Tensor& x);
  /// (x - mean) / scale. A feature with equal values becomes 0.
  Tensor transform(const Tensor& x) const;
  Tensor fit_transform(const Tensor& x);
  Tensor inverse_transform(const Tensor& x) const;

  /// [features] each.
  const std::vector<double>& mean() const { return moments_.mean; }
  std::vector<double> variance() const;  // with n as divisor
  /// The standard deviation, and 1 for a feature with equal values or without with_std.
  std::vector<double> scale() const;
  /// The values that transform() subtracts: the mean, or 0 without with_mean.
  std::vector<double> offset() const;
  int64_t samples_seen() const { return moments_.count; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  Tensor apply(const Tensor& x, bool inverse, std::string_view name) const;

  StandardScalerOptions options_;
  ColumnMoments moments_;
};

}  // namespace kaiseki::ml
