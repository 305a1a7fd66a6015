// SPDX-License-Identifier: MIT
// Linear classifiers that also learn how certain each weight is. They are confidence-weighted
// learning, its soft form, adaptive regularization of weights (AROW) and Gaussian herding (NHERD).
// Weights of rare features stay uncertain, and so they change by larger steps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/linear_function.h"
#include "ml/online/confidence_steps.h"

namespace kaiseki::ml {

class Archive;

/// The options that all have.
struct ConfidenceOptions {
  bool fit_intercept = true;  // as the weight of one more feature, which is 1
  int64_t max_iter = 100;     // passes; a pass without a change is the last
  bool shuffle = true;
  uint64_t seed = 0;
};

/// One function for two classes, else one for each class against the rest. The covariances are
/// diagonal, and 1 at first. Samples are processed in sequence on the CPU, in double. x is f32
/// [n, features], y is i32 [n]. All throw ShapeError, also for NaN and infinity.
class ConfidenceClassifier {
 public:
  /// Requires at least two classes.
  void fit(const Tensor& x, const Tensor& y);
  /// One pass over the samples, from the present weights. The first call needs all classes that any
  /// call will have.
  void partial_fit(const Tensor& x, const Tensor& y, const std::vector<int32_t>& classes = {});
  /// The labels i32 [n].
  Tensor predict(const Tensor& x) const;
  /// f32 [n] for two classes: above 0 for the larger label. Else f32 [n, classes].
  Tensor decision_function(const Tensor& x) const;
  /// The accuracy_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// The labels in ascending order.
  const std::vector<int32_t>& classes() const { return learned_.classes; }
  /// [1, features] for two classes, else [classes, features].
  const Tensor& coefficients() const { return function_.coefficients(); }
  /// [1] or [classes]
  const Tensor& intercept() const { return function_.intercept(); }
  /// The variances of the coefficients, with their shape.
  Tensor variances() const;
  /// The largest number of passes of a function.
  int64_t iterations() const { return iterations_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 protected:
  ConfidenceClassifier(const ConfidenceProblem& problem, const ConfidenceOptions& options,
                       std::string_view name);

 private:
  /// One function; the last element belongs to the intercept.
  struct Weights {
    std::vector<double> mean, variance;
    uint64_t position = 0;  // of the random numbers
  };
  int64_t learn(const float* x, const std::vector<int32_t>& codes, int32_t positive, int64_t passes,
                uint64_t stream, Weights& weights) const;
  bool step(const float* x, double y, Weights& weights) const;
  struct LearnedWeights {
    std::vector<int32_t> classes;
    std::vector<Weights> weights;
  };
  /// Trains `next` and keeps it. If it throws, the model stays as it was.
  void run(const Tensor& x, const std::vector<int32_t>& codes, int64_t passes, LearnedWeights next);

  ConfidenceProblem problem_;
  ConfidenceOptions options_;
  std::string name_;
  LearnedWeights learned_;
  LinearFunction function_;
  int64_t iterations_ = 0;
};

struct ConfidenceWeightedOptions {
  double eta = 0.9;  // the probability of a correct prediction that a step demands; 0.5 < eta < 1
  ConfidenceOptions common = {};
};
class ConfidenceWeighted : public ConfidenceClassifier {
 public:
  explicit ConfidenceWeighted(const ConfidenceWeightedOptions& options = {});
};

struct SoftConfidenceWeightedOptions {
  double eta = 0.9;  // 0.5 < eta < 1
  double c = 1;      // the largest step; above 0
  ConfidenceOptions common = {};
};
/// SCW-I.
class SoftConfidenceWeighted : public ConfidenceClassifier {
 public:
  explicit SoftConfidenceWeighted(const SoftConfidenceWeightedOptions& options = {});
};

struct AROWOptions {
  double r = 1;  // above 0; a larger one makes smaller steps
  ConfidenceOptions common = {};
};
class AROW : public ConfidenceClassifier {
 public:
  explicit AROW(const AROWOptions& options = {});
};

struct NHERDOptions {
  double c = 0.1;  // above 0; a smaller one makes smaller steps
  ConfidenceOptions common = {};
};
class NHERD : public ConfidenceClassifier {
 public:
  explicit NHERD(const NHERDOptions& options = {});
};

}  // namespace kaiseki::ml
