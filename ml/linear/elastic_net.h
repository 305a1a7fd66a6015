// SPDX-License-Identifier: MIT
// Linear regression with an L1 penalty, which makes coefficients 0, or with an L1 and an L2
// penalty.
#pragma once

#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/linear_function.h"

namespace kaiseki::ml {

class Archive;

struct ElasticNetOptions {
  double alpha = 1;       // 0 or more
  double l1_ratio = 0.5;  // from 0 (only L2) to 1 (only L1)
  bool fit_intercept = true;
  int64_t max_iter = 1000;  // passes over the features
  double tol = 1e-4;        // of the duality gap, relative to |y - mean(y)|^2
  bool positive = false;    // whether coefficients must not be negative
};

/// Minimizes |y - x w - b|^2 / (2 n) + alpha * l1_ratio * |w|_1 + alpha * (1 - l1_ratio) * |w|^2 /
/// 2. Uses coordinate descent, in double on the CPU. x is f32 [n, features], y is f32 [n] or [n,
/// outputs], whose outputs are separate problems. All throw ShapeError, also for NaN and infinity.
class ElasticNet {
 public:
  explicit ElasticNet(ElasticNetOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  /// [n] or [n, outputs], as y.
  Tensor predict(const Tensor& x) const { return function_.apply(x, "ElasticNet.predict"); }
  /// The r2_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// [features] or [outputs, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [outputs]
  const Tensor& intercept() const { return function_.intercept(); }
  /// The largest number of passes of an output.
  int64_t iterations() const { return iterations_; }
  /// Whether each output reached the tolerance. If not, raise max_iter or scale the features.
  bool converged() const { return converged_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  ElasticNetOptions options_;
  LinearFunction function_;
  int64_t iterations_ = 0;
  bool converged_ = false;
};

struct LassoOptions {
  double alpha = 1;  // 0 or more
  bool fit_intercept = true;
  int64_t max_iter = 1000;
  double tol = 1e-4;
  bool positive = false;
};

/// An ElasticNet with only the L1 penalty.
class Lasso : public ElasticNet {
 public:
  explicit Lasso(LassoOptions options = {})
      : ElasticNet({.alpha = options.alpha,
                    .l1_ratio = 1,
                    .fit_intercept = options.fit_intercept,
                    .max_iter = options.max_iter,
                    .tol = options.tol,
                    .positive = options.positive}) {}
};

}  // namespace kaiseki::ml
