// SPDX-License-Identifier: MIT
#include "ml/naive_bayes/gaussian_nb.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/index.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/metrics/classification.h"
#include "ml/naive_bayes/class_sums.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

/// The largest variance of a feature of all samples, from the moments of the classes.
double largest_variance(const std::vector<double>& means, const std::vector<double>& variances,
                        const std::vector<double>& counts) {
  const size_t features = means.size() / counts.size();
  double total = 0, largest = 0;
  for (const double count : counts) total += count;
  for (size_t j = 0; j < features; ++j) {
    double mean = 0, variance = 0;
    for (size_t c = 0; c < counts.size(); ++c) mean += counts[c] / total * means[c * features + j];
    for (size_t c = 0; c < counts.size(); ++c) {
      const double step = means[c * features + j] - mean;
      variance += counts[c] / total * (variances[c * features + j] + step * step);
    }
    largest = std::max(largest, variance);
  }
  return largest;
}

}  // namespace

GaussianNB::GaussianNB(GaussianNBOptions options) : options_(std::move(options)) {
  if (!(options_.var_smoothing > 0))
    throw Error(
        message("GaussianNB", "expected var_smoothing above 0, got ", options_.var_smoothing));
}

void GaussianNB::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "GaussianNB::fit";
  check_samples(x, kName);
  const std::vector<int32_t> classes = encode_labels(read_labels(y, x.dim(0), kName)).classes;
  GaussianNB fresh(options_);
  fresh.partial_fit(x, y, classes);
  *this = std::move(fresh);
}

void GaussianNB::partial_fit(const Tensor& x, const Tensor& y,
                             const std::vector<int32_t>& classes) {
  constexpr std::string_view kName = "GaussianNB::partial_fit";
  if (model_.count > 0)
    check_samples(x, model_.features, kName);
  else
    check_samples(x, kName);
  BatchLabels labels = batch_labels(y, x.dim(0), classes_, classes, kName);
  check_priors(options_.priors, labels.classes.size(), kName);
  const int64_t features = x.dim(1);
  const std::vector<double> added = class_counts(labels.codes, labels.classes.size());
  const ClassMoments moments = class_moments(x.contiguous(), labels.codes, added);
  if (model_.count == 0) {
    classes_ = std::move(labels.classes);
    counts_.assign(classes_.size(), 0);
    variances_.assign(moments.variances.size(), 0);
    model_ = {.type = CovarianceType::diag,
              .count = static_cast<int64_t>(classes_.size()),
              .features = features};
    model_.means.assign(moments.means.size(), 0);
  }
  double total = 0;
  for (size_t c = 0; c < counts_.size(); ++c) {
    const double before = counts_[c], count = before + added[c];
    total += count;
    counts_[c] = count;
    if (added[c] == 0) continue;
    for (int64_t j = 0; j < features; ++j) {
      const int64_t at = static_cast<int64_t>(c) * features + j;
      const double step = moments.means[at] - model_.means[at];
      variances_[at] = (before * variances_[at] + added[c] * moments.variances[at] +
                        step * step * before * added[c] / count) /
                       count;
      model_.means[at] += step * added[c] / count;
    }
  }
  const double largest = largest_variance(model_.means, variances_, counts_);
  const double smoothing = options_.var_smoothing * (largest > 0 ? largest : 1);
  model_.covariances = variances_;
  for (double& variance : model_.covariances) variance += smoothing;
  model_.weights = options_.priors;
  if (options_.priors.empty())
    for (const double count : counts_) model_.weights.push_back(count / total);
  model_.factor(kName);
}

/// Calls body(log of prior times density [classes, b], first row).
template <class Body>
void GaussianNB::for_each_scored_block(const Tensor& x, std::string_view name,
                                       const Body& body) const {
  check_samples(x, fitted().features, name);
  const GaussiansOnDevice there(model_, x.device());
  for_each_row_block(x.contiguous(), [&](const Tensor& rows, int64_t begin) {
    body(there.log_probabilities(rows), begin);
  });
}

Tensor GaussianNB::predict(const Tensor& x) const {
  const Tensor labels = tensor_from(classes(), x.device());
  Tensor result;
  for_each_scored_block(x, "GaussianNB::predict", [&](const Tensor& scores, int64_t begin) {
    if (!result.defined()) result = Tensor({x.dim(0)}, DType::i32, x.device());
    Tensor out = result.slice(0, begin, scores.dim(1));
    copy_into(out, take(labels, argmax(scores, 0), 0));
  });
  return result;
}

Tensor GaussianNB::probabilities(const Tensor& x, const char* expression,
                                 std::string_view name) const {
  Tensor result;
  for_each_scored_block(x, name, [&](const Tensor& scores, int64_t begin) {
    if (!result.defined()) result = Tensor({x.dim(0), model_.count}, DType::f32, x.device());
    const Tensor norms = logsumexp(scores, {0});
    Tensor out = result.slice(0, begin, scores.dim(1));
    copy_into(out, elementwise(expression, {{"s", scores}, {"n", norms}}).transpose());
  });
  return result;
}

Tensor GaussianNB::predict_proba(const Tensor& x) const {
  return probabilities(x, "exp(s - n)", "GaussianNB::predict_proba");
}

Tensor GaussianNB::predict_log_proba(const Tensor& x) const {
  return probabilities(x, "s - n", "GaussianNB::predict_log_proba");
}

double GaussianNB::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const Gaussians& GaussianNB::fitted() const {
  check_fitted(model_.count > 0, "GaussianNB");
  return model_;
}

const std::vector<int32_t>& GaussianNB::classes() const {
  fitted();
  return classes_;
}
Tensor GaussianNB::theta() const {
  return tensor_from(fitted().means, {model_.count, model_.features}, default_device());
}
Tensor GaussianNB::var() const {
  return tensor_from(fitted().covariances, {model_.count, model_.features}, default_device());
}
Tensor GaussianNB::class_prior() const {
  return tensor_from(fitted().weights, {model_.count}, default_device());
}
Tensor GaussianNB::class_count() const {
  fitted();
  return tensor_from(counts_, {model_.count}, default_device());
}

}  // namespace kaiseki::ml
