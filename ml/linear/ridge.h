// SPDX-License-Identifier: MIT
// Least squares with a penalty: minimizes |x w + b - y|^2 + alpha |w|^2.
#pragma once

#include "matrix/tensor.h"
#include "ml/linear/linear_function.h"

namespace kaiseki::ml {

class Archive;

struct RidgeOptions {
  double alpha = 1;  // 0 or more
  bool fit_intercept = true;
};

/// x is f32 [n, features], y is f32 [n] or [n, outputs]. Computes in double on the CPU: from a
/// matrix of the features, or of the samples if there are fewer. All throw ShapeError, also for NaN
/// and infinity.
class Ridge {
 public:
  explicit Ridge(RidgeOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  /// [n] or [n, outputs], as y.
  Tensor predict(const Tensor& x) const { return function_.apply(x, "Ridge.predict"); }
  /// The r2_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// [features] or [outputs, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [outputs]
  const Tensor& intercept() const { return function_.intercept(); }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  RidgeOptions options_;
  LinearFunction function_;
};

}  // namespace kaiseki::ml
