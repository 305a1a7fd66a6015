// SPDX-License-Identifier: MIT
#include "ml/cluster/kmeans.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/ops/cluster.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "ml/cluster/device_lloyd.h"
#include "ml/cluster/kmeans_start.h"
#include "ml/cluster/lloyd.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/progress.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kFit = "KMeans::fit";

/// The best result of all starts. Rows: CenteredRows or DeviceRows.
template <class Rows>
LloydResult best_of_starts(const Rows& x, const KMeansOptions& options) {
  const LloydOptions lloyd_options{.max_iter = options.max_iter,
                                   .tolerance = options.tol * x.mean_variance(),
                                   .bounds = options.algorithm == KMeansAlgorithm::hamerly};
  if (options.centers.defined())
    return lloyd(x, relative_centers(options.centers, x.origin()), lloyd_options);
  LloydResult best;
  for (int64_t start = 0; start < options.n_init; ++start) {
    report_progress("starts", start, options.n_init);
    Random random(options.seed, static_cast<uint64_t>(start));
    Centers first = options.init == KMeansInit::random
                        ? random_samples(x, options.n_clusters, random)
                        : kmeans_plus_plus(x, options.n_clusters, random);
    LloydResult result = lloyd(x, std::move(first), lloyd_options);
    if (start == 0 || result.inertia < best.inertia) best = std::move(result);
  }
  return best;
}

}  // namespace

KMeans::KMeans(KMeansOptions options) : options_(std::move(options)) {
  check_at_least(options_.n_clusters, 1, "n_clusters", "KMeans");
  check_at_least(options_.n_init, 1, "n_init", "KMeans");
  check_at_least(options_.max_iter, 1, "max_iter", "KMeans");
  if (!(options_.tol >= 0))
    throw Error(message("KMeans", "expected tol of 0 or more, got ", options_.tol));
}

void KMeans::fit(const Tensor& x) {
  check_samples(x, kFit);
  require(x.dim(0) >= options_.n_clusters, kFit, "expected at least ", options_.n_clusters,
          " samples for n_clusters ", options_.n_clusters, ", got ", x.dim(0));
  if (options_.centers.defined()) {
    check_samples(options_.centers, x.dim(1), kFit);
    require(options_.centers.dim(0) == options_.n_clusters, kFit, "expected ", options_.n_clusters,
            " centers, got ", options_.centers.dim(0));
  }
  const auto fit_rows = [&](const auto& rows) {
    LloydResult best = best_of_starts(rows, options_);
    check_inertia(best.inertia, kFit);
    centers_ = absolute_centers(best.centers, rows.origin(), x.device());
    labels_ = std::move(best.labels);
    inertia_ = best.inertia;
    n_iter_ = best.iterations;
  };
  if (x.device().is_cpu())
    fit_rows(CenteredRows(x.contiguous()));
  else
    fit_rows(DeviceRows(x));
}

Tensor KMeans::predict(const Tensor& x) const {
  return nearest_centers(x, cluster_centers(), "KMeans::predict").labels;
}

Tensor KMeans::transform(const Tensor& x) const {
  return center_distances(x, cluster_centers(), "KMeans::transform");
}

double KMeans::score(const Tensor& x) const {
  return -nearest_centers(x, cluster_centers(), "KMeans::score").inertia;
}

const Tensor& KMeans::cluster_centers() const {
  check_fitted(centers_.defined(), "KMeans");
  return centers_;
}

const Tensor& KMeans::labels() const {
  check_fitted(centers_.defined(), "KMeans");
  return labels_;
}

double KMeans::inertia() const {
  check_fitted(centers_.defined(), "KMeans");
  return inertia_;
}

int64_t KMeans::n_iter() const {
  check_fitted(centers_.defined(), "KMeans");
  return n_iter_;
}

void check_inertia(double inertia, std::string_view name) {
  if (!std::isfinite(inertia))
    throw Error(message(name, "the squared distances are too large for f32. Scale the features"));
}

NearestCenters nearest_centers(const Tensor& x, const Tensor& centers, std::string_view name) {
  check_samples(x, centers.dim(1), name);
  if (!x.device().is_cpu()) {
    const NearestLabels nearest = nearest_labels(x, centers.to(x.device()));
    return {nearest.labels, static_cast<double>(sum(nearest.squares).item())};
  }
  // The mean of the centers serves as well as that of x, and does not depend on the other samples.
  const std::vector<double> mean = column_means(centers);
  const CenteredRows rows(x.contiguous(), std::vector<float>(mean.begin(), mean.end()));
  Tensor labels({x.dim(0)}, DType::i32, Device::cpu());
  const Centers relative = relative_centers(centers, rows.origin());
  const double inertia = assign_nearest(rows, relative, labels.overwrite<int32_t>());
  return {labels, inertia};
}

Tensor center_distances(const Tensor& x, const Tensor& centers, std::string_view name) {
  check_samples(x, centers.dim(1), name);
  const int64_t count = centers.dim(0), features = centers.dim(1);
  if (!x.device().is_cpu()) {
    const Tensor squares = squared_distances(x, centers.to(x.device()));
    return elementwise("sqrt(s)", {{"s", squares}}).transpose().contiguous();
  }
  const CenteredRows rows(x.contiguous(), std::vector<float>(static_cast<size_t>(features)));
  const std::vector<float> to = centers.to_vector();
  Tensor distances({x.dim(0), count}, DType::f32, Device::cpu());
  float* out = distances.overwrite<float>();
  for_each_centered_block(rows, [&](const float* block, int64_t begin, int64_t block_rows) {
    for (int64_t i = 0; i < block_rows; ++i)
      for (int64_t j = 0; j < count; ++j)
        out[(begin + i) * count + j] =
            std::sqrt(squared_distance(block + i * features, to.data() + j * features, features));
  });
  return distances;
}

}  // namespace kaiseki::ml
