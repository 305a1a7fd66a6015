// SPDX-License-Identifier: MIT
#include "ml/mixture/gaussian_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/solve.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/cluster/kmeans.h"
#include "ml/decomposition/gram.h"
#include "ml/draw.h"
#include "ml/mixture/expectation.h"
#include "ml/moments.h"
#include "ml/progress.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "GaussianMixture";

std::vector<double> numbers(const Tensor& t) {
  const std::vector<float> values = t.to_vector<float>();
  return {values.begin(), values.end()};
}

/// Responsibilities [components, n] on the host, by samples: 1 for the cluster of each.
std::vector<float> cluster_responsibilities(const Tensor& x, int64_t count, uint64_t seed) {
  KMeans clusters({.n_clusters = count, .n_init = 1, .seed = seed});
  clusters.fit(x);
  const std::vector<int32_t> labels = clusters.labels().to_vector<int32_t>();
  std::vector<float> result(static_cast<size_t>(count * x.dim(0)));
  for (size_t i = 0; i < labels.size(); ++i) result[labels[i] * labels.size() + i] = 1;
  return result;
}

std::vector<float> random_responsibilities(int64_t n, int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> result(static_cast<size_t>(count * n));
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < count; ++k) sum += result[k * n + i] = random.uniform() + 1e-6f;
    for (int64_t k = 0; k < count; ++k) result[k * n + i] /= sum;
  }
  return result;
}

/// Calls body(log probabilities [components, b], first row) for blocks of x.
template <class Body>
void for_each_scored_block(const Tensor& x, const Gaussians& model, const Body& body) {
  const GaussiansOnDevice there(model, x.device());
  for_each_row_block(x.contiguous(), [&](const Tensor& rows, int64_t begin) {
    body(there.log_probabilities(rows), begin);
  });
}

}  // namespace

GaussianMixture::GaussianMixture(GaussianMixtureOptions options) : options_(std::move(options)) {
  check_at_least(options_.n_components, 1, "n_components", kName);
  check_at_least(options_.max_iter, 1, "max_iter", kName);
  check_at_least(options_.n_init, 1, "n_init", kName);
  if (!(options_.tol >= 0 && options_.reg_covar >= 0))
    throw Error(message(kName, "expected tol and reg_covar of 0 or more, got ", options_.tol,
                        " and ", options_.reg_covar));
}

void GaussianMixture::check_start(const Tensor& x) const {
  const int64_t k = options_.n_components, d = x.dim(1);
  const Gaussians shapes{.type = options_.covariance_type, .count = k, .features = d};
  const auto check = [&](const Tensor& t, const Shape& shape, std::string_view what) {
    if (!t.defined()) return;
    require(t.dtype() == DType::f32 && t.shape() == shape, kName, "expected ", what,
            " of type f32 and shape ", shape, ", got ", dtype_name(t.dtype()), " ", t.shape());
    check_finite(t, what, kName);
  };
  check(options_.weights_init, {k}, "weights_init");
  check(options_.means_init, {k, d}, "means_init");
  check(options_.precisions_init, shapes.covariance_shape(), "precisions_init");
}

Gaussians GaussianMixture::start(const Tensor& x, const TiedProducts& products,
                                 uint64_t number) const {
  const int64_t n = x.dim(0), k = options_.n_components;
  Gaussians model{.type = options_.covariance_type, .count = k, .features = x.dim(1)};
  if (!(options_.weights_init.defined() && options_.means_init.defined() &&
        options_.precisions_init.defined())) {
    const uint64_t seed = options_.seed + number;
    const std::vector<float> all = options_.init_params == MixtureInit::kmeans
                                       ? cluster_responsibilities(x, k, seed)
                                       : random_responsibilities(n, k, seed);
    const Tensor responsibilities = Tensor::from(std::span<const float>(all), {k, n}, x.device());
    for (MixtureProducts where : {MixtureProducts::f32_on_device, MixtureProducts::f64_on_host}) {
      const MixtureSums sums = sums_of(
          x, model, products.mean,
          [&](int64_t begin, int64_t rows) {
            return responsibilities.slice(1, begin, rows).contiguous();
          },
          where);
      maximization(sums, products, options_.reg_covar, model);
      if (!model.needs_f64_products()) break;
    }
  }
  if (options_.weights_init.defined()) model.weights = numbers(options_.weights_init);
  if (options_.means_init.defined()) model.means = numbers(options_.means_init);
  if (options_.precisions_init.defined()) {
    model.covariances = numbers(options_.precisions_init);
    if (model.has_matrices())
      model.covariances =
          inv(f64_tensor(model.covariances, model.covariance_shape())).to_vector<double>();
    else
      for (double& value : model.covariances) value = 1 / value;
  }
  model.factor("GaussianMixture::fit");
  return model;
}

void GaussianMixture::fit(const Tensor& x) {
  constexpr std::string_view kFit = "GaussianMixture::fit";
  check_samples(x, kFit);
  require(x.dim(0) >= options_.n_components, kFit, "expected at least ", options_.n_components,
          " samples for n_components ", options_.n_components, ", got ", x.dim(0));
  check_start(x);
  const Tensor samples = x.contiguous();
  TiedProducts products{column_means(samples), {}};
  if (options_.covariance_type == CovarianceType::tied)
    products.products = centered_gram(samples, products.mean).to_vector<double>();
  const auto n = static_cast<double>(x.dim(0));
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t number = 0; number < options_.n_init; ++number) {
    Gaussians model = start(samples, products, static_cast<uint64_t>(number));
    double bound = -std::numeric_limits<double>::infinity();
    bool converged = false;
    int64_t iterations = 0;
    MixtureProducts where = MixtureProducts::f32_on_device;
    while (!converged && iterations < options_.max_iter) {
      report_progress("iterations", number * options_.max_iter + iterations,
                      options_.n_init * options_.max_iter);
      Gaussians next_model = model;
      MixtureSums sums = expectation(samples, model, where);
      maximization(sums, products, options_.reg_covar, next_model);
      if (where == MixtureProducts::f32_on_device && next_model.needs_f64_products()) {
        where = MixtureProducts::f64_on_host;
        sums = expectation(samples, model, where);
        maximization(sums, products, options_.reg_covar, next_model);
      }
      model = std::move(next_model);
      model.factor(kFit);
      const double next = sums.log_likelihood / n;
      converged = std::abs(next - bound) < options_.tol;
      bound = next;
      ++iterations;
    }
    if (!std::isfinite(bound))
      throw Error(
          message(kFit, "the likelihood is not finite; expected samples of a smaller range"));
    if (number > 0 && bound <= best) continue;
    best = lower_bound_ = bound;
    model_ = std::move(model);
    converged_ = converged;
    n_iter_ = iterations;
  }
}

Tensor GaussianMixture::predict(const Tensor& x) const {
  check_samples(x, fitted().features, "GaussianMixture::predict");
  Tensor result({x.dim(0)}, DType::i32, x.device());
  for_each_scored_block(x, model_, [&](const Tensor& scores, int64_t begin) {
    Tensor out = result.slice(0, begin, scores.dim(1));
    copy_into(out, argmax(scores, 0));
  });
  return result;
}

Tensor GaussianMixture::predict_proba(const Tensor& x) const {
  check_samples(x, fitted().features, "GaussianMixture::predict_proba");
  Tensor result({x.dim(0), model_.count}, DType::f32, x.device());
  for_each_scored_block(x, model_, [&](const Tensor& scores, int64_t begin) {
    const Tensor norms = logsumexp(scores, {0});
    Tensor out = result.slice(0, begin, scores.dim(1));
    copy_into(out, elementwise("exp(s - n)", {{"s", scores}, {"n", norms}}).transpose());
  });
  return result;
}

Tensor GaussianMixture::score_samples(const Tensor& x) const {
  check_samples(x, fitted().features, "GaussianMixture::score_samples");
  Tensor result({x.dim(0)}, DType::f32, x.device());
  for_each_scored_block(x, model_, [&](const Tensor& scores, int64_t begin) {
    Tensor out = result.slice(0, begin, scores.dim(1));
    copy_into(out, logsumexp(scores, {0}));
  });
  return result;
}

double GaussianMixture::log_likelihood(const Tensor& x, std::string_view name) const {
  check_samples(x, fitted().features, name);
  double total = 0;
  for_each_scored_block(x, model_, [&](const Tensor& scores, int64_t) {
    total += static_cast<double>(sum(logsumexp(scores, {0})).item());
  });
  return total;
}

double GaussianMixture::score(const Tensor& x) const {
  return log_likelihood(x, "GaussianMixture::score") / static_cast<double>(x.dim(0));
}

double GaussianMixture::bic(const Tensor& x) const {
  return -2 * log_likelihood(x, "GaussianMixture::bic") +
         model_.free_parameters() * std::log(static_cast<double>(x.dim(0)));
}

double GaussianMixture::aic(const Tensor& x) const {
  return -2 * log_likelihood(x, "GaussianMixture::aic") + 2 * model_.free_parameters();
}

GaussianMixture::Sample GaussianMixture::sample(int64_t n, uint64_t seed) const {
  check_at_least(n, 1, "n", "GaussianMixture::sample");
  const int64_t d = fitted().features;
  Random random(seed);
  std::vector<int32_t> components;
  for (int64_t i = 0; i < n; ++i) {
    double target = uniform_double(random);
    int32_t k = 0;
    while (k + 1 < model_.count && target >= model_.weights[k]) target -= model_.weights[k++];
    components.push_back(k);
  }
  std::sort(components.begin(), components.end());
  std::vector<double> roots;  // Cholesky factors, or deviations
  if (model_.has_matrices())
    roots = cholesky(f64_tensor(model_.covariances, model_.covariance_shape())).to_vector<double>();
  else
    for (const double variance : model_.covariances) roots.push_back(std::sqrt(variance));
  std::vector<double> values, z(static_cast<size_t>(d));
  for (const int32_t k : components) {
    for (double& value : z) value = static_cast<double>(random.normal());
    for (int64_t i = 0; i < d; ++i) {
      double value = model_.means[k * d + i];
      if (model_.has_matrices()) {
        const int64_t matrix = model_.type == CovarianceType::full ? k : 0;
        for (int64_t j = 0; j <= i; ++j) value += roots[(matrix * d + i) * d + j] * z[j];
      } else {
        value += z[i] * (model_.type == CovarianceType::diag ? roots[k * d + i] : roots[k]);
      }
      values.push_back(value);
    }
  }
  return {tensor_from(values, {n, d}, default_device()), tensor_from(components, default_device())};
}

const Gaussians& GaussianMixture::fitted() const {
  check_fitted(model_.count > 0, kName);
  return model_;
}

Tensor GaussianMixture::weights() const {
  return tensor_from(fitted().weights, {model_.count}, default_device());
}
Tensor GaussianMixture::means() const {
  return tensor_from(fitted().means, {model_.count, model_.features}, default_device());
}
Tensor GaussianMixture::covariances() const {
  return tensor_from(fitted().covariances, model_.covariance_shape(), default_device());
}
bool GaussianMixture::converged() const {
  fitted();
  return converged_;
}
int64_t GaussianMixture::n_iter() const {
  fitted();
  return n_iter_;
}
double GaussianMixture::lower_bound() const {
  fitted();
  return lower_bound_;
}

}  // namespace kaiseki::ml
