// SPDX-License-Identifier: MIT
#include "ml/cluster/kmeans.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "ml/cluster/kmeans_start.h"
#include "ml/cluster/lloyd.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/progress.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kFit = "KMeans::fit";

Centers first_centers(const CenteredRows& x, const KMeansOptions& options, int64_t start) {
  if (options.centers.defined()) return x.centered(options.centers);
  Random random(options.seed, static_cast<uint64_t>(start));
  if (options.init == KMeansInit::random) return random_samples(x, options.n_clusters, random);
  return kmeans_plus_plus(x, options.n_clusters, random);
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
  const Tensor host = on_host(x);
  require(x.dim(0) >= options_.n_clusters, kFit, "expected at least ", options_.n_clusters,
          " samples for n_clusters ", options_.n_clusters, ", got ", x.dim(0));
  if (options_.centers.defined()) {
    check_samples(options_.centers, x.dim(1), kFit);
    require(options_.centers.dim(0) == options_.n_clusters, kFit, "expected ", options_.n_clusters,
            " centers, got ", options_.centers.dim(0));
  }
  const CenteredRows rows(host);
  const LloydOptions lloyd_options{.max_iter = options_.max_iter,
                                   .tolerance = options_.tol * rows.mean_variance(),
                                   .bounds = options_.algorithm == KMeansAlgorithm::hamerly};
  const int64_t starts = options_.centers.defined() ? 1 : options_.n_init;
  LloydResult best;
  for (int64_t start = 0; start < starts; ++start) {
    report_progress("starts", start, starts);
    LloydResult result = lloyd(rows, first_centers(rows, options_, start), lloyd_options);
    if (start == 0 || result.inertia < best.inertia) best = std::move(result);
  }
  centers_ = rows.absolute(best.centers).to(x.device());
  labels_ = Tensor::from(std::span<const int32_t>(best.labels), {x.dim(0)}, x.device());
  inertia_ = best.inertia;
  n_iter_ = best.iterations;
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

NearestCenters nearest_centers(const Tensor& x, const Tensor& centers, std::string_view name) {
  check_samples(x, centers.dim(1), name);
  const Tensor host = on_host(x);
  // The mean of the centers serves as well as that of x, and does not depend on the other samples.
  const std::vector<double> mean = column_means(centers);
  const CenteredRows rows(host, std::vector<float>(mean.begin(), mean.end()));
  Tensor labels({x.dim(0)}, DType::i32, Device::cpu());
  const double inertia = assign_nearest(rows, rows.centered(centers), labels.overwrite<int32_t>());
  return {labels.to(x.device()), inertia};
}

Tensor center_distances(const Tensor& x, const Tensor& centers, std::string_view name) {
  check_samples(x, centers.dim(1), name);
  const Tensor host = on_host(x);
  const CenteredRows rows(host, std::vector<float>(static_cast<size_t>(x.dim(1))));
  const Centers to = rows.centered(centers);
  Tensor distances({x.dim(0), to.count}, DType::f32, Device::cpu());
  float* out = distances.overwrite<float>();
  for_each_centered_block(rows, [&](const float* block, int64_t begin, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < to.count; ++j)
        out[(begin + i) * to.count + j] =
            std::sqrt(squared_distance(block + i * to.features, to.row(j), to.features));
  });
  return distances.to(x.device());
}

}  // namespace kaiseki::ml
