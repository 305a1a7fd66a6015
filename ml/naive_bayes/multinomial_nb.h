// SPDX-License-Identifier: MIT
// Naive Bayes for counts, such as words of a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class Archive;

struct MultinomialNBOptions {
  double alpha = 1;                      // is added to each count (Laplace and Lidstone smoothing)
  bool fit_prior = true;                 // false: all classes have the same prior
  std::vector<double> class_prior = {};  // of the classes; if not empty, replaces both
};

/// Products run on the device of x.
class MultinomialNB {
 public:
  /// Throws Error for a setting out of range.
  explicit MultinomialNB(MultinomialNBOptions options = {});

  /// x: f32 [n, features], 0 or more; y: i32 [n] with any integers. Throws ShapeError, also for NaN
  /// and infinity. Throws Error for a negative count.
  void fit(const Tensor& x, const Tensor& y);
  /// Adds samples. The first call needs the list of all classes. Throws ShapeError for another
  /// label.
  void partial_fit(const Tensor& x, const Tensor& y, const std::vector<int32_t>& classes = {});
  Tensor predict(const Tensor& x) const;                 // i32 [n]
  Tensor predict_proba(const Tensor& x) const;           // f32 [n, classes]
  Tensor predict_log_proba(const Tensor& x) const;       // f32 [n, classes]
  double score(const Tensor& x, const Tensor& y) const;  // the accuracy

  // These throw ShapeError before fit(). Tensors are on the default device.
  const std::vector<int32_t>& classes() const;  // sorted
  Tensor feature_log_prob() const;              // f32 [classes, features]
  Tensor class_log_prior() const;               // f32 [classes]
  Tensor class_count() const;                   // f32 [classes]
  Tensor feature_count() const;                 // f32 [classes, features]
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  Tensor joint_log_likelihood(const Tensor& x, std::string_view name) const;
  void update_logarithms();

  MultinomialNBOptions options_;
  int64_t features_ = 0;
  std::vector<int32_t> classes_;
  std::vector<double> counts_, feature_counts_, log_prior_, log_prob_;
};

}  // namespace kaiseki::ml
