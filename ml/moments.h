// SPDX-License-Identifier: MIT
// The mean and the variance of each column, in double, for x of any size on any device.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

struct ColumnMoments {
  int64_t count = 0;            // number of rows
  std::vector<double> mean;     // of each column
  std::vector<double> squares;  // the sum of (x - mean)^2

  /// Adds the rows of `other` (Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm
  /// for computing sample variances", 1979).
  void merge(const ColumnMoments& other);
  /// The variance with n as divisor.
  double variance(size_t column) const { return squares[column] / static_cast<double>(count); }
  /// Whether the variance is only an error of rounding.
  bool is_constant(size_t column) const;
};

/// x is f32 [n, columns]. Reads it in blocks. The result does not depend on the number of threads.
ColumnMoments column_moments(const Tensor& x);
/// The mean of each column only, in one pass.
std::vector<double> column_means(const Tensor& x);

}  // namespace kaiseki::ml
