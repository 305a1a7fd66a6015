// SPDX-License-Identifier: MIT
#include "ml/online/confidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "matrix/random.h"
#include "matrix/threads.h"
#include "ml/linear/classes.h"
#include "ml/linear/wide.h"
#include "ml/metrics/classification.h"
#include "ml/progress.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

double quantile_of(double eta, std::string_view name) {
  require(eta > 0.5 && eta < 1, name, "expected 0.5 < eta < 1, got ", eta);
  return normal_quantile(eta);
}

double above_zero(double value, std::string_view option, std::string_view name) {
  require(value > 0 && std::isfinite(value), name, "expected ", option, " above 0, got ", value);
  return value;
}

}  // namespace

ConfidenceClassifier::ConfidenceClassifier(const ConfidenceProblem& problem,
                                           const ConfidenceOptions& options, std::string_view name)
    : problem_(problem), options_(options), name_(name) {
  require(options.max_iter > 0, name, "expected a max_iter of 1 or more, got ", options.max_iter);
}

/// Returns whether the weights changed.
bool ConfidenceClassifier::step(const float* x, double y, Weights& weights) const {
  const auto features = static_cast<int64_t>(weights.mean.size()) - 1;
  double *mean = weights.mean.data(), *variance = weights.variance.data();
  double v = 0;
  for (int64_t j = 0; j < features; ++j) v += variance[j] * x[j] * x[j];
  double score = wide_dot(features, x, mean);
  if (options_.fit_intercept) {
    v += variance[features];
    score += mean[features];
  }
  const ConfidenceStep s = confidence_step(problem_, y * score, v);
  if (s.mean == 0) return false;
  const auto change = [&](int64_t j, double value) {
    const double spread = variance[j] * value;
    mean[j] += s.mean * y * spread;
    variance[j] = s.precision > 0 ? variance[j] / (1 + s.precision * spread * value)
                                  : variance[j] - s.product * spread * spread;
  };
  for (int64_t j = 0; j < features; ++j) change(j, x[j]);
  if (options_.fit_intercept) change(features, 1);
  return true;
}

int64_t ConfidenceClassifier::learn(const float* x, const std::vector<int32_t>& codes,
                                    int32_t positive, int64_t passes, uint64_t stream,
                                    Weights& weights) const {
  const auto features = static_cast<int64_t>(weights.mean.size()) - 1;
  Random random(options_.seed, stream);
  random.seek(weights.position);
  std::vector<int64_t> order(codes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  int64_t done = 0;
  for (bool changed = true; changed && done < passes; ++done) {
    throw_if_stopped();
    report_progress("passes", done, passes);
    for (size_t i = order.size(); i > 1 && options_.shuffle; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.below(i))]);
    changed = false;
    for (int64_t i : order) {
      const double y = codes[static_cast<size_t>(i)] == positive ? 1 : -1;
      changed = step(x + i * features, y, weights) || changed;
    }
  }
  weights.position = random.position();
  return done;
}

void ConfidenceClassifier::run(const Tensor& x, const std::vector<int32_t>& codes, int64_t passes,
                               LearnedWeights next) {
  const Tensor host = on_host(x);
  if (next.weights.empty()) {
    const auto size = static_cast<size_t>(host.dim(1) + 1);
    next.weights.assign(next.classes.size() == 2 ? 1 : next.classes.size(),
                        {std::vector<double>(size), std::vector<double>(size, 1.0), 0});
  }
  const auto functions = static_cast<int64_t>(next.weights.size());
  std::vector<int64_t> done(next.weights.size());
  // Other threads report nothing, and they may take every function.
  report_progress("passes", 0, passes);
  parallel_for(functions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f)
      done[static_cast<size_t>(f)] =
          learn(host.data<float>(), codes, static_cast<int32_t>(functions == 1 ? 1 : f), passes,
                static_cast<uint64_t>(f), next.weights[static_cast<size_t>(f)]);
  });
  LinearWeights linear;
  linear.outputs = functions;
  linear.features = host.dim(1);
  for (const Weights& w : next.weights) {
    linear.coefficients.insert(linear.coefficients.end(), w.mean.begin(), w.mean.end() - 1);
    linear.intercept.push_back(w.mean.back());
  }
  function_ = LinearFunction(linear, false, x.device());
  learned_ = std::move(next);
  iterations_ = *std::max_element(done.begin(), done.end());
}

void ConfidenceClassifier::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, name_);
  const LabelCodes labels = encode_labels(read_labels(y, x.dim(0), name_));
  check_classes(labels.classes, name_);
  run(x, labels.codes, options_.max_iter, {labels.classes, {}});
}

void ConfidenceClassifier::partial_fit(const Tensor& x, const Tensor& y,
                                       const std::vector<int32_t>& classes) {
  LearnedWeights next = learned_;
  next.classes = classes_of_call(x, classes, function_, learned_.classes, name_);
  const std::vector<int32_t> codes =
      encode_labels(read_labels(y, x.dim(0), name_), next.classes, name_);
  run(x, codes, 1, std::move(next));
}

Tensor ConfidenceClassifier::decision_function(const Tensor& x) const {
  const Tensor scores = function_.apply(x, name_);
  return classes().size() == 2 ? scores.reshape({x.dim(0)}) : scores;
}

Tensor ConfidenceClassifier::predict(const Tensor& x) const {
  return labels_from_scores(decision_function(x), classes());
}

double ConfidenceClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

Tensor ConfidenceClassifier::variances() const {
  check_fitted(function_.defined(), name_);
  std::vector<double> all;
  for (const Weights& w : learned_.weights)
    all.insert(all.end(), w.variance.begin(), w.variance.end() - 1);
  return tensor_from(all, coefficients().shape(), coefficients().device());
}

ConfidenceWeighted::ConfidenceWeighted(const ConfidenceWeightedOptions& options)
    : ConfidenceClassifier({ConfidenceMethod::cw, quantile_of(options.eta, "ConfidenceWeighted")},
                           options.common, "ConfidenceWeighted") {}

SoftConfidenceWeighted::SoftConfidenceWeighted(const SoftConfidenceWeightedOptions& options)
    : ConfidenceClassifier(
          {ConfidenceMethod::scw1, quantile_of(options.eta, "SoftConfidenceWeighted"),
           above_zero(options.c, "a c", "SoftConfidenceWeighted")},
          options.common, "SoftConfidenceWeighted") {}

AROW::AROW(const AROWOptions& options)
    : ConfidenceClassifier({ConfidenceMethod::arow, 0, 1, above_zero(options.r, "an r", "AROW")},
                           options.common, "AROW") {}

NHERD::NHERD(const NHERDOptions& options)
    : ConfidenceClassifier({ConfidenceMethod::nherd, 0, above_zero(options.c, "a c", "NHERD")},
                           options.common, "NHERD") {}

}  // namespace kaiseki::ml
