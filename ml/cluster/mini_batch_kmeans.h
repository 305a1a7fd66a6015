// SPDX-License-Identifier: MIT
// k-means on small random batches of the samples (Sculley, "Web-scale k-means clustering", 2010).
#pragma once

#include <vector>

#include "ml/cluster/kmeans.h"

namespace kaiseki::ml {

class Archive;

struct MiniBatchKMeansOptions {
  int64_t n_clusters = 8;
  KMeansInit init = KMeansInit::kmeans_plus_plus;
  Tensor centers = {};     // f32 [n_clusters, features]: if defined, the only start
  int64_t max_iter = 100;  // passes: max_iter * n / batch_size batches at most
  int64_t batch_size = 1024;
  double tol = 0;                    // as in KMeansOptions, for one batch; 0: no such stop
  int64_t max_no_improvement = 10;   // batches without a smaller average inertia, then fit() stops
  int64_t n_init = 3;                // starts; the best one is used
  double reassignment_ratio = 0.01;  // clusters below this part of the largest get new centers
  uint64_t seed = 0;
};

/// Each center is the mean of all samples that were nearest to it when their batch was drawn.
/// Computes on the CPU, as KMeans.
class MiniBatchKMeans {
 public:
  /// Throws Error for a setting out of range.
  explicit MiniBatchKMeans(MiniBatchKMeansOptions options = {});

  /// x: f32 [n, features], n >= n_clusters. Errors are those of KMeans.
  void fit(const Tensor& x);
  /// Updates the centers with one batch. The first one must have n_clusters samples or more.
  void partial_fit(const Tensor& x);
  Tensor predict(const Tensor& x) const;
  Tensor transform(const Tensor& x) const;
  double score(const Tensor& x) const;

  // These throw Error before fit() or partial_fit().
  const Tensor& cluster_centers() const;
  const Tensor& labels() const;  // of the samples of the last fit() or partial_fit()
  double inertia() const;        // of these samples
  int64_t n_steps() const;       // batches
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  struct State;
  void publish(const State& state, const std::vector<float>& origin, const Tensor& x,
               int64_t steps);

  MiniBatchKMeansOptions options_;
  Tensor centers_, labels_;
  std::vector<double> counts_;  // samples of each center
  double inertia_ = 0;
  int64_t n_steps_ = 0, since_reassignment_ = 0;
};

}  // namespace kaiseki::ml
