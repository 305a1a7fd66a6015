// SPDX-License-Identifier: MIT
// Least squares: minimizes |x w + b - y|^2.
#pragma once

#include "matrix/tensor.h"
#include "ml/linear/linear_function.h"

namespace kaiseki::ml {

class Archive;

enum class LeastSquaresSolver : uint8_t {
  automatic,  // normal equations, and QR where these would lose too many digits
  qr,         // about as much work, and never loses digits
};

struct LinearRegressionOptions {
  bool fit_intercept = true;
  LeastSquaresSolver solver = LeastSquaresSolver::automatic;
};

/// x is f32 [n, features], y is f32 [n] or [n, outputs]. Computes in double on the CPU. If x has
/// fewer samples than features, or features that depend on others, the coefficients are those of
/// least norm. A constant feature has the coefficient 0. All throw ShapeError, also for NaN and
/// infinity.
class LinearRegression {
 public:
  explicit LinearRegression(LinearRegressionOptions options = {}) : options_(options) {}

  void fit(const Tensor& x, const Tensor& y);
  /// [n] or [n, outputs], as y.
  Tensor predict(const Tensor& x) const { return function_.apply(x, "LinearRegression.predict"); }
  /// The r2_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// [features] or [outputs, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [outputs]
  const Tensor& intercept() const { return function_.intercept(); }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  LinearRegressionOptions options_;
  LinearFunction function_;
};

}  // namespace kaiseki::ml
