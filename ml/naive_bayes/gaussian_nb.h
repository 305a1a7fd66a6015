// SPDX-License-Identifier: MIT
// Naive Bayes with a normal distribution of each feature in each class.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/mixture/gaussians.h"

namespace kaiseki::ml {

class Archive;

struct GaussianNBOptions {
  std::vector<double> priors = {};  // of the classes; empty: their parts of the samples
  double var_smoothing = 1e-9;      // this part of the largest variance is added to all variances
};

/// Products run on the device of x. If all features are constant, var_smoothing itself is added.
/// With one class only, that class is always predicted.
class GaussianNB {
 public:
  /// Throws Error for a setting out of range.
  explicit GaussianNB(GaussianNBOptions options = {});

  /// x: f32 [n, features], y: i32 [n] with any integers. Throws ShapeError, also for NaN and
  /// infinity.
  void fit(const Tensor& x, const Tensor& y);
  /// Adds samples. The first call needs the list of all classes. The result is that of fit() with
  /// all samples. scikit-learn differs: it smooths by the variance of the last samples. Throws
  /// ShapeError for another label.
  void partial_fit(const Tensor& x, const Tensor& y, const std::vector<int32_t>& classes = {});
  Tensor predict(const Tensor& x) const;                 // i32 [n]
  Tensor predict_proba(const Tensor& x) const;           // f32 [n, classes]
  Tensor predict_log_proba(const Tensor& x) const;       // f32 [n, classes]
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy

  // These throw ShapeError before fit(). Tensors are on the default device.
  const std::vector<int32_t>& classes() const;  // sorted
  Tensor theta() const;                         // f32 [classes, features]: means
  Tensor var() const;                           // f32 [classes, features]: smoothed variances
  Tensor class_prior() const;                   // f32 [classes]
  Tensor class_count() const;                   // f32 [classes]
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  const Gaussians& fitted() const;
  template <class Body>
  void for_each_scored_block(const Tensor& x, std::string_view name, const Body& body) const;
  Tensor probabilities(const Tensor& x, const char* expression, std::string_view name) const;

  GaussianNBOptions options_;
  std::vector<int32_t> classes_;
  std::vector<double> counts_, variances_;  // variances without smoothing
  Gaussians model_;
};

}  // namespace kaiseki::ml
