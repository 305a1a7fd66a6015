// SPDX-License-Identifier: MIT
// Model: any estimator behind one interface, made by its name. For files, the command line and
// grid searches.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "matrix/tensor.h"
#include "ml/archive.h"
#include "ml/tree/tree.h"

namespace kaiseki::ml {

/// The kind of task that an estimator learns.
enum class LearningTask : uint8_t {
  classification,  // fit(x, y), y: i32 [n]
  regression,      // fit(x, y), y: f32 [n] or [n, outputs]
  clustering,      // fit(x)
  transformation,  // fit(x)
};

/// The result that an estimator computes from x.
enum class Use : uint8_t { predict, predict_proba, decision_function, transform, score_samples };
/// "predict" and so on.
std::string_view use_name(Use use);

/// The numbers of a linear model.
struct LinearParts {
  Tensor coefficients, intercept;  // [features], or [outputs, features]; [outputs]
  std::vector<int32_t> classes;    // empty: a regression
  bool softmax = false;            // whether probabilities are the softmax of the scores
};

/// The trees of a model. The model's values are the means of the trees' values.
struct ForestParts {
  std::span<const Tree> trees;
  std::vector<int32_t> classes;  // empty: a regression
};

class Model {
 public:
  virtual ~Model() = default;
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Such as "Ridge".
  virtual std::string_view name() const = 0;
  virtual LearningTask task() const = 0;
  /// All settings, also those with their defaults.
  virtual Json settings() const = 0;
  /// y is ignored by clusterings and transformations. Throws as the estimator's fit().
  virtual void fit(const Tensor& x, const Tensor& y) = 0;
  /// Learns from more samples. A classifier's first call needs `classes`: all labels that may come.
  /// Throws Error if the estimator has no partial_fit().
  virtual void partial_fit(const Tensor& x, const Tensor& y,
                           const std::vector<int32_t>& classes) = 0;
  virtual bool has_partial_fit() const = 0;
  /// The first use is the default of `kaiseki apply`.
  virtual std::vector<Use> uses() const = 0;
  /// Throws Error for a use that the estimator does not have.
  virtual Tensor apply(Use use, const Tensor& x) const = 0;
  /// The estimator's score(): accuracy, R^2, or the mean log likelihood. Throws Error without one.
  virtual double score(const Tensor& x, const Tensor& y) const = 0;
  virtual bool has_score() const = 0;
  /// Whether fit() ended before max_iter. Nothing if the estimator does not tell.
  virtual std::optional<bool> converged() const = 0;
  /// The labels, ascending. Empty if the model is no classifier.
  virtual std::vector<int32_t> classes() const = 0;
  /// Nothing if the model is not linear, or has no trees. For exports.
  virtual std::optional<LinearParts> linear_parts() const = 0;
  virtual std::optional<ForestParts> forest_parts() const = 0;
  /// Writes or reads the fitted state.
  virtual void archive(Archive& state) = 0;
  /// The number of features that fit() has seen, or 0 before it.
  int64_t features() const { return features_; }

 protected:
  int64_t features_ = 0;
};

}  // namespace kaiseki::ml
