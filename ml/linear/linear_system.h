// SPDX-License-Identifier: MIT
// Least squares in double, for x (f32) of any number of rows. Blocks of rows become double. There
// is no copy of x, except from another device.
#pragma once

#include <optional>
#include <vector>

#include "matrix/linalg/matrix_view.h"
#include "matrix/tensor.h"

namespace kaiseki::ml {

using DoubleMatrix = linalg::Dense<double>;

/// The samples and the targets of a regression, on the CPU. The means are those of the columns, or
/// 0 without an intercept.
struct RegressionData {
  /// x is f32 [n, features], y is f32 [n] or [n, outputs].
  RegressionData(const Tensor& x, const Tensor& y, bool fit_intercept);

  Tensor x, y;
  int64_t samples, features, outputs;
  std::vector<double> x_mean, y_mean;

  int64_t columns() const { return features + outputs; }
  /// Column j of [x y] without its mean.
  double centered(int64_t i, int64_t j) const {
    return j < features
               ? x_[i * features + j] - x_mean[static_cast<size_t>(j)]
               : y_[i * outputs + j - features] - y_mean[static_cast<size_t>(j - features)];
  }
  const float* x_row(int64_t i) const { return x_ + i * features; }
  const float* y_row(int64_t i) const { return y_ + i * outputs; }

 private:
  const float *x_, *y_;
};

/// A^T A for A = [x y] without its means: [columns, columns], symmetric.
DoubleMatrix gram_matrix(const RegressionData& data);

/// The R of A = Q R, for the same A with sqrt(penalty) I below x: [columns, columns]. Its rows and
/// columns have the lengths of the products in gram_matrix().
DoubleMatrix triangular_factor(const RegressionData& data, double penalty);

/// These functions minimize |x w - y|^2 + penalty |w|^2. They return w^T, [outputs * features].
/// Uses the Gram matrix. Returns nothing if this would lose too many digits.
std::optional<std::vector<double>> solve_by_cholesky(const RegressionData& data, double penalty);
/// Uses the Gram matrix of the rows, for fewer samples than features. penalty > 0.
std::optional<std::vector<double>> solve_by_rows(const RegressionData& data, double penalty);
/// Uses R. If x does not determine w, returns the solution of least norm.
std::vector<double> solve_by_qr(const RegressionData& data, double penalty);

/// mean(y) - mean(x) w for each output.
std::vector<double> intercepts(const RegressionData& data, const std::vector<double>& weights);

}  // namespace kaiseki::ml
