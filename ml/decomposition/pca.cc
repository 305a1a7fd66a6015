// SPDX-License-Identifier: MIT
#include "ml/decomposition/pca.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "ml/decomposition/gram.h"
#include "ml/decomposition/pca_solvers.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kFit = "PCA::fit";
constexpr int64_t kSmall = 500;
constexpr double kFewComponents = 0.8;

int64_t power_iterations(const PCAOptions& options, int64_t count, int64_t most) {
  return options.iterated_power.value_or(10 * count < most ? 7 : 4);
}

/// Whether the CPU needs less time for all axes than for the iteration. The costs are numbers of
/// products for each element of x, fitted to measurements.
bool full_is_faster(const PCAOptions& options, int64_t count, int64_t samples, int64_t features) {
  if (samples < features) return false;
  const auto n = static_cast<double>(samples), d = static_cast<double>(features);
  const double full = d / 2 + 8 * d * d / n;  // half a product, the eigenvectors
  const int64_t passes = 2 * power_iterations(options, count, features) + 3;
  return full < static_cast<double>((count + options.n_oversamples) * passes);
}

enum class Method : uint8_t { full, fast_full, randomized };  // fast: products in f32

Method method_for(const PCAOptions& options, const Tensor& x) {
  if (options.solver == PcaSolver::full) return Method::full;
  if (options.solver == PcaSolver::randomized) return Method::randomized;
  const int64_t samples = x.dim(0), features = x.dim(1);
  const int64_t* count = std::get_if<int64_t>(&options.n_components);
  if (!count || std::max(samples, features) <= kSmall) return Method::full;
  if (x.device().is_cpu() && full_is_faster(options, *count, samples, features))
    return Method::fast_full;
  const auto most = static_cast<double>(std::min(samples, features));
  return static_cast<double>(*count) < kFewComponents * most ? Method::randomized : Method::full;
}

/// As many axes as have more than this part of the total.
int64_t count_for(double ratio, const std::vector<double>& squares, double total) {
  double sum = 0;
  for (size_t i = 0; i < squares.size(); ++i) {
    sum += squares[i];
    if (sum > ratio * total) return static_cast<int64_t>(i) + 1;
  }
  return static_cast<int64_t>(squares.size());
}

}  // namespace

PCA::PCA(PCAOptions options) : options_(options) {
  if (const auto* count = std::get_if<int64_t>(&options_.n_components))
    check_at_least(*count, 1, "n_components", "PCA");
  if (const auto* ratio = std::get_if<double>(&options_.n_components)) {
    if (!(*ratio > 0 && *ratio < 1))
      throw Error(message("PCA", "expected a ratio n_components between 0 and 1, got ", *ratio));
    if (options_.solver == PcaSolver::randomized)
      throw Error(
          message("PCA", "the randomized solver needs a number of components, not a ratio"));
  }
  check_at_least(options_.iterated_power.value_or(0), 0, "iterated_power", "PCA");
  check_at_least(options_.n_oversamples, 0, "n_oversamples", "PCA");
}

void PCA::fit(const Tensor& x) {
  check_samples(x, kFit);
  const int64_t n = x.dim(0), features = x.dim(1), most = std::min(n, features);
  require(n >= 2, kFit, "expected 2 samples or more, got ", n);
  const auto* given = std::get_if<int64_t>(&options_.n_components);
  require(!given || *given <= most, kFit, "expected n_components from 1 to ", most, " for x ",
          x.shape(), ", got ", given ? *given : 0);
  const Tensor samples = x.contiguous();
  const ColumnMoments moments = column_moments(samples);
  const std::vector<double>& mean = moments.mean;
  const double total = std::accumulate(moments.squares.begin(), moments.squares.end(), 0.0);
  PrincipalAxes axes;
  const int64_t given_or_all = given ? *given : most;
  const Method method = method_for(options_, samples);
  if (method == Method::full) {
    axes = full_axes(samples, mean);
  } else if (method == Method::fast_full) {
    axes = largest_axes(centered_gram_f32(samples, mean), features);
  } else {
    axes = randomized_axes(samples, mean, given_or_all,
                           {.oversampling = options_.n_oversamples,
                            .power_iterations = power_iterations(options_, given_or_all, most),
                            .seed = options_.seed});
  }
  auto count = static_cast<int64_t>(axes.squares.size());
  if (given) count = *given;
  if (const auto* ratio = std::get_if<double>(&options_.n_components))
    count = count_for(*ratio, axes.squares, total);
  axes.squares.resize(static_cast<size_t>(count));
  axes.axes.resize(static_cast<size_t>(count * features));
  fix_signs(axes, features);
  projection_ = make_projection({.axes = axes,
                                 .mean = mean,
                                 .samples = n,
                                 .total = total,
                                 .most = most,
                                 .whiten = options_.whiten},
                                x.device());
}

Tensor PCA::transform(const Tensor& x) const { return projection_.apply(x, "PCA::transform"); }

Tensor PCA::fit_transform(const Tensor& x) {
  fit(x);
  return transform(x);
}

Tensor PCA::inverse_transform(const Tensor& z) const {
  return projection_.invert(z, "PCA::inverse_transform");
}

const Projection& PCA::fitted() const {
  check_fitted(projection_.defined(), "PCA");
  return projection_;
}

const Tensor& PCA::components() const { return fitted().components; }
const Tensor& PCA::explained_variance() const { return fitted().explained_variance; }
const Tensor& PCA::explained_variance_ratio() const { return fitted().explained_variance_ratio; }
const Tensor& PCA::singular_values() const { return fitted().singular_values; }
const Tensor& PCA::mean() const { return fitted().mean; }
double PCA::noise_variance() const { return fitted().noise_variance; }
int64_t PCA::n_components() const { return fitted().components.dim(0); }

}  // namespace kaiseki::ml
