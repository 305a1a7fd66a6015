// SPDX-License-Identifier: MIT
// Logistic regression: one linear function for two classes, and one for each of more classes.
#pragma once

#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/classes.h"
#include "ml/linear/linear_function.h"

namespace kaiseki::ml {

class Archive;

enum class LogisticPenalty : uint8_t { none, l2 };

struct LogisticRegressionOptions {
  LogisticPenalty penalty = LogisticPenalty::l2;
  double c = 1;  // C of scikit-learn: the weight of the losses. Above 0
  bool fit_intercept = true;
  ClassWeights class_weight = {};
  int64_t max_iter = 100;
  /// The limit of the gradient's largest element. For many samples, a step with a relative decrease
  /// below 2.2e-5 tol is also the last. With this tol, many means more than 52,000.
  double tol = 1e-4;
};

/// Minimizes |w|^2 / (2 c) + the sum of the log losses, by L-BFGS. x is f32 [n, features], y is
/// i32 [n]. Computes in f32 on the device of x, in blocks of rows. All throw ShapeError, also for
/// NaN and infinity, and for less than two classes.
class LogisticRegression {
 public:
  explicit LogisticRegression(LogisticRegressionOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  /// The labels i32 [n].
  Tensor predict(const Tensor& x) const;
  /// f32 [n] for two classes: above 0 for the larger label. Else f32 [n, classes].
  Tensor decision_function(const Tensor& x) const;
  /// f32 [n, classes]; rows have the sum 1.
  Tensor predict_proba(const Tensor& x) const;
  /// The accuracy_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// Ascending.
  const std::vector<int32_t>& classes() const { return classes_; }
  /// [1, features] for two classes, else [classes, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [1] or [classes]
  const Tensor& intercept() const { return function_.intercept(); }
  int64_t iterations() const { return iterations_; }
  /// Whether the gradient reached the tolerance, or f32 allows no further decrease. If not, raise
  /// max_iter or scale the features.
  bool converged() const { return converged_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  LogisticRegressionOptions options_;
  std::vector<int32_t> classes_;
  LinearFunction function_;
  int64_t iterations_ = 0;
  bool converged_ = false;
};

}  // namespace kaiseki::ml
