// SPDX-License-Identifier: MIT
// Linear classifiers and regressors that learn by stochastic gradient descent. They process samples
// in sequence on the CPU. Different classes are learned in parallel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/classes.h"
#include "ml/linear/linear_function.h"
#include "ml/linear/sgd_steps.h"

namespace kaiseki::ml {

class Archive;

/// The base of the classifiers: one function for two classes, else one for each class against the
/// rest. x is f32 [n, features], y is i32 [n]. All throw ShapeError, also for NaN and infinity.
class OneVsRestSgd {
 public:
  /// Requires at least two classes. Throws Error if the weights become infinite.
  void fit(const Tensor& x, const Tensor& y);
  /// One pass over the samples, from the present weights. The first call needs all classes that any
  /// call will have. Class weights must not be `balanced`.
  void partial_fit(const Tensor& x, const Tensor& y, const std::vector<int32_t>& classes = {});
  /// The labels i32 [n].
  Tensor predict(const Tensor& x) const;
  /// f32 [n] for two classes: above 0 for the larger label. Else f32 [n, classes].
  Tensor decision_function(const Tensor& x) const;
  /// The accuracy_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// Ascending.
  const std::vector<int32_t>& classes() const { return learned_.classes; }
  /// [1, features] for two classes, else [classes, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [1] or [classes]
  const Tensor& intercept() const { return function_.intercept(); }
  /// The largest number of passes of a function.
  int64_t iterations() const { return iterations_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 protected:
  OneVsRestSgd(const SgdProblem& problem, ClassWeights weights, std::string_view name);
  const std::string& name() const { return name_; }

 private:
  struct LearnedStates {
    std::vector<int32_t> classes;
    std::vector<double> weights;  // of the classes
    std::vector<SgdState> states;
  };
  /// Trains `next` and keeps it. If it throws, the model stays as it was.
  void run(const Tensor& x, const std::vector<int32_t>& codes, int64_t epochs, LearnedStates next);

  SgdProblem problem_;
  ClassWeights class_weight_;
  std::string name_;
  LearnedStates learned_;
  LinearFunction function_;
  int64_t iterations_ = 0;
};

struct SGDClassifierOptions {
  SgdLoss loss = SgdLoss::hinge;
  SgdPenalty penalty = SgdPenalty::l2;
  double alpha = 1e-4;     // the weight of the penalty
  double l1_ratio = 0.15;  // only for `elasticnet`
  bool fit_intercept = true;
  int64_t max_iter = 1000;  // passes
  double tol = 1e-3;        // stop if the mean loss falls by less for n_iter_no_change passes
  bool shuffle = true;
  double epsilon = 0.1;  // only for `huber` and both `epsilon_insensitive`
  uint64_t seed = 0;
  LearningRate learning_rate = LearningRate::optimal;
  double eta0 = 0, power_t = 0.5;
  int64_t n_iter_no_change = 5;
  ClassWeights class_weight = {};
  bool average = false;  // the result is the mean of the weights after each sample
};

class SGDClassifier : public OneVsRestSgd {
 public:
  explicit SGDClassifier(const SGDClassifierOptions& options = {});
  /// f32 [n, classes], only for the loss `log`. For more than two classes, the probabilities of the
  /// functions are divided by their sum.
  Tensor predict_proba(const Tensor& x) const;

 private:
  SgdLoss loss_;
};

struct SGDRegressorOptions {
  SgdLoss loss = SgdLoss::squared_error;  // or huber, or one of both `epsilon_insensitive`
  SgdPenalty penalty = SgdPenalty::l2;
  double alpha = 1e-4, l1_ratio = 0.15;
  bool fit_intercept = true;
  int64_t max_iter = 1000;
  double tol = 1e-3;
  bool shuffle = true;
  double epsilon = 0.1;
  uint64_t seed = 0;
  LearningRate learning_rate = LearningRate::invscaling;
  double eta0 = 0.01, power_t = 0.25;
  int64_t n_iter_no_change = 5;
  bool average = false;
};

/// x is f32 [n, features], y is f32 [n]. Options are those of SGDClassifier.
class SGDRegressor {
 public:
  explicit SGDRegressor(const SGDRegressorOptions& options = {});

  /// Throws Error if the weights become infinite, as they may for features of large values.
  void fit(const Tensor& x, const Tensor& y);
  /// One pass over the samples, from the present weights.
  void partial_fit(const Tensor& x, const Tensor& y);
  /// f32 [n]
  Tensor predict(const Tensor& x) const { return function_.apply(x, name_); }
  /// The r2_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// [features]
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [1]
  const Tensor& intercept() const { return function_.intercept(); }
  int64_t iterations() const { return iterations_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 protected:
  SGDRegressor(const SgdProblem& problem, std::string_view name);

 private:
  /// Trains `next` and keeps it. If it throws, the model stays as it was.
  void run(const Tensor& x, const Tensor& y, int64_t epochs, SgdState next);

  SgdProblem problem_;
  std::string name_;
  SgdState state_;
  LinearFunction function_;
  int64_t iterations_ = 0;
};

}  // namespace kaiseki::ml
