// SPDX-License-Identifier: MIT
#include "ml/naive_bayes/multinomial_nb.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/metrics/classification.h"
#include "ml/naive_bayes/class_sums.h"
#include "ml/samples.h"

namespace kaiseki::ml {

MultinomialNB::MultinomialNB(MultinomialNBOptions options) : options_(std::move(options)) {
  if (!(options_.alpha > 0))
    throw Error(message("MultinomialNB", "expected alpha above 0, got ", options_.alpha));
}

void MultinomialNB::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "MultinomialNB::fit";
  check_samples(x, kName);
  const std::vector<int32_t> classes = encode_labels(read_labels(y, x.dim(0), kName)).classes;
  MultinomialNB fresh(options_);
  fresh.partial_fit(x, y, classes);
  *this = std::move(fresh);
}

void MultinomialNB::partial_fit(const Tensor& x, const Tensor& y,
                                const std::vector<int32_t>& classes) {
  constexpr std::string_view kName = "MultinomialNB::partial_fit";
  if (!classes_.empty())
    check_samples(x, features_, kName);
  else
    check_samples(x, kName);
  const double least = static_cast<double>(min(x).item());
  if (least < 0) throw Error(message(kName, "expected counts of 0 or more in x, got ", least));
  BatchLabels labels = batch_labels(y, x.dim(0), classes_, classes, kName);
  check_priors(options_.class_prior, labels.classes.size(), kName);
  const std::vector<double> counts = class_counts(labels.codes, labels.classes.size());
  const std::vector<double> sums = class_sums(x.contiguous(), labels.codes, counts.size());
  if (classes_.empty()) {
    classes_ = std::move(labels.classes);
    features_ = x.dim(1);
    counts_.assign(counts.size(), 0);
    feature_counts_.assign(sums.size(), 0);
  }
  for (size_t i = 0; i < counts.size(); ++i) counts_[i] += counts[i];
  for (size_t i = 0; i < sums.size(); ++i) feature_counts_[i] += sums[i];
  update_logarithms();
}

void MultinomialNB::update_logarithms() {
  log_prior_.clear();
  log_prob_.clear();
  double total = 0;
  for (const double count : counts_) total += count;
  for (size_t c = 0; c < counts_.size(); ++c) {
    double prior = 1 / static_cast<double>(counts_.size());
    if (!options_.class_prior.empty())
      prior = options_.class_prior[c];
    else if (options_.fit_prior)
      prior = counts_[c] / total;
    log_prior_.push_back(std::log(prior));
    const double* row = feature_counts_.data() + static_cast<int64_t>(c) * features_;
    double sum = 0;
    for (int64_t j = 0; j < features_; ++j) sum += row[j] + options_.alpha;
    for (int64_t j = 0; j < features_; ++j)
      log_prob_.push_back(std::log(row[j] + options_.alpha) - std::log(sum));
  }
}

/// f32 [n, classes]
Tensor MultinomialNB::joint_log_likelihood(const Tensor& x, std::string_view name) const {
  check_fitted(!classes_.empty(), "MultinomialNB");
  check_samples(x, features_, name);
  const auto count = static_cast<int64_t>(classes_.size());
  const Tensor weights = tensor_from(log_prob_, {count, features_}, x.device());
  const Tensor bias = tensor_from(log_prior_, {count}, x.device());
  Tensor result({x.dim(0), count}, DType::f32, x.device());
  gemm(x.contiguous(), weights, result, {.transpose_b = true, .bias_per_column = &bias});
  return result;
}

Tensor MultinomialNB::predict(const Tensor& x) const {
  const Tensor scores = joint_log_likelihood(x, "MultinomialNB::predict");
  return take(tensor_from(classes_, x.device()), argmax(scores, 1), 0);
}

Tensor MultinomialNB::predict_proba(const Tensor& x) const {
  const Tensor scores = joint_log_likelihood(x, "MultinomialNB::predict_proba");
  return elementwise("exp(s - n)", {{"s", scores}, {"n", logsumexp(scores, {1}, true)}});
}

Tensor MultinomialNB::predict_log_proba(const Tensor& x) const {
  const Tensor scores = joint_log_likelihood(x, "MultinomialNB::predict_log_proba");
  return scores - logsumexp(scores, {1}, true);
}

double MultinomialNB::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const std::vector<int32_t>& MultinomialNB::classes() const {
  check_fitted(!classes_.empty(), "MultinomialNB");
  return classes_;
}
Tensor MultinomialNB::feature_log_prob() const {
  const auto count = static_cast<int64_t>(classes().size());
  return tensor_from(log_prob_, {count, features_}, default_device());
}
Tensor MultinomialNB::class_log_prior() const {
  const auto count = static_cast<int64_t>(classes().size());
  return tensor_from(log_prior_, {count}, default_device());
}
Tensor MultinomialNB::class_count() const {
  const auto count = static_cast<int64_t>(classes().size());
  return tensor_from(counts_, {count}, default_device());
}
Tensor MultinomialNB::feature_count() const {
  const auto count = static_cast<int64_t>(classes().size());
  return tensor_from(feature_counts_, {count, features_}, default_device());
}

}  // namespace kaiseki::ml
