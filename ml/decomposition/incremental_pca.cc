// SPDX-License-Identifier: MIT
#include "ml/decomposition/incremental_pca.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/gemm.h"
#include "ml/decomposition/gram.h"
#include "ml/decomposition/pca_solvers.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kPartialFit = "IncrementalPCA::partial_fit";

/// The axes of the rows of x - mean and of `old` [count, features].
PrincipalAxes joint_axes(const Tensor& x, const std::vector<double>& mean,
                         const std::vector<double>& old) {
  const int64_t features = x.dim(1), count = static_cast<int64_t>(old.size()) / features;
  if (count == 0) return full_axes(x, mean);
  const Tensor rows = f64_tensor(old, {count, features});
  if (x.dim(0) + count >= features) {
    Tensor gram = centered_gram(x, mean);
    const Tensor products = matmul(rows, rows, true);
    double* sums = gram.mutable_data<double>();
    for (int64_t i = 0; i < gram.size(); ++i) sums[i] += products.data<double>()[i];
    return largest_axes(gram, features);
  }
  const Tensor parts[] = {rows, centered_doubles(x, mean)};
  return axes_of_rows(concatenate(parts, 0));
}

}  // namespace

IncrementalPCA::IncrementalPCA(IncrementalPCAOptions options) : options_(options) {
  if (options_.n_components)
    check_at_least(*options_.n_components, 1, "n_components", "IncrementalPCA");
  if (options_.batch_size) check_at_least(*options_.batch_size, 1, "batch_size", "IncrementalPCA");
}

void IncrementalPCA::fit(const Tensor& x) {
  check_samples(x, "IncrementalPCA::fit");
  *this = IncrementalPCA(options_);
  const int64_t n = x.dim(0), step = options_.batch_size.value_or(5 * x.dim(1));
  const int64_t least = options_.n_components.value_or(1);
  for (int64_t begin = 0; begin < n;) {
    // A rest that is too small for a batch of its own is added to the last batch.
    const int64_t end = n - begin - step < least ? n : begin + step;
    partial_fit(x.slice(0, begin, end - begin));
    begin = end;
  }
}

void IncrementalPCA::partial_fit(const Tensor& x) {
  if (seen_ > 0)
    check_samples(x, static_cast<int64_t>(mean_.size()), kPartialFit);
  else
    check_samples(x, kPartialFit);
  const int64_t n = x.dim(0), features = x.dim(1);
  const auto kept = static_cast<int64_t>(axes_.squares.size());
  const int64_t count = seen_ > 0 ? kept : options_.n_components.value_or(std::min(n, features));
  require(count <= std::min(n, features), kPartialFit,
          "expected a batch with at least n_components ", count, " samples and features, got ",
          x.shape());
  const Tensor samples = x.contiguous();
  const ColumnMoments batch = column_moments(samples);
  total_ += std::accumulate(batch.squares.begin(), batch.squares.end(), 0.0);
  // `old` has the old axes with their lengths, and a row for the difference of the means. With the
  // new samples, these rows have the same products as all samples around the new mean.
  std::vector<double> old;
  for (int64_t i = 0; i < kept; ++i)
    for (int64_t j = 0; j < features; ++j)
      old.push_back(std::sqrt(axes_.squares[i]) * axes_.axes[i * features + j]);
  if (seen_ == 0) mean_ = batch.mean;
  const auto before = static_cast<double>(seen_), added = static_cast<double>(n);
  if (seen_ > 0) {
    const double scale = std::sqrt(before * added / (before + added));
    for (int64_t j = 0; j < features; ++j) {
      const double difference = batch.mean[j] - mean_[j];
      old.push_back(scale * difference);
      total_ += scale * scale * difference * difference;
      mean_[j] += difference * added / (before + added);
    }
  }
  seen_ += n;
  axes_ = joint_axes(samples, batch.mean, old);
  axes_.squares.resize(static_cast<size_t>(count));
  axes_.axes.resize(static_cast<size_t>(count * features));
  fix_signs(axes_, features);
  if (seen_ < 2) return;
  projection_ = make_projection({.axes = axes_,
                                 .mean = mean_,
                                 .samples = seen_,
                                 .total = total_,
                                 .most = std::min(seen_, features),
                                 .whiten = options_.whiten},
                                x.device());
}

Tensor IncrementalPCA::transform(const Tensor& x) const {
  return projection_.apply(x, "IncrementalPCA::transform");
}

Tensor IncrementalPCA::inverse_transform(const Tensor& z) const {
  return projection_.invert(z, "IncrementalPCA::inverse_transform");
}

const Projection& IncrementalPCA::fitted() const {
  check_fitted(projection_.defined(), "IncrementalPCA");
  return projection_;
}

const Tensor& IncrementalPCA::components() const { return fitted().components; }
const Tensor& IncrementalPCA::explained_variance() const { return fitted().explained_variance; }
const Tensor& IncrementalPCA::explained_variance_ratio() const {
  return fitted().explained_variance_ratio;
}
const Tensor& IncrementalPCA::singular_values() const { return fitted().singular_values; }
const Tensor& IncrementalPCA::mean() const { return fitted().mean; }
double IncrementalPCA::noise_variance() const { return fitted().noise_variance; }

}  // namespace kaiseki::ml
