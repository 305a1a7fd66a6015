// SPDX-License-Identifier: MIT
// k-means clustering.
#pragma once

#include <cstdint>
#include <string_view>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class Archive;

enum class KMeansInit : uint8_t { kmeans_plus_plus, random };
/// Both give the same result, except for equal distances. `hamerly` computes fewer distances.
enum class KMeansAlgorithm : uint8_t { hamerly, lloyd };

struct KMeansOptions {
  int64_t n_clusters = 8;
  KMeansInit init = KMeansInit::kmeans_plus_plus;
  Tensor centers = {};  // f32 [n_clusters, features]; if defined, the centers of the only start
  int64_t n_init = 10;  // starts; the result with the least inertia is kept
  int64_t max_iter = 300;
  double tol = 1e-4;  // of the squared movement of centers, relative to the mean variance
  uint64_t seed = 0;
  KMeansAlgorithm algorithm = KMeansAlgorithm::hamerly;
};

/// Finds centers for which the sum of squared distances from each sample to its nearest center, the
/// inertia, is small. Computes on the device of x.
///
/// * If a cluster is empty, it gets the sample that is farthest from its center. If x has fewer
///   different samples than clusters, some clusters stay empty.
/// * The same seed gives the same result for any number of threads. On another device than the CPU,
///   sums of samples are in f32. The centers then differ by about 1e-5 of the deviations.
/// * Other devices always use `lloyd`. In an iteration n_clusters * (features + 1) numbers come to
///   the host. If a cluster becomes empty, all distances and labels come once.
class KMeans {
 public:
  /// Throws Error for a setting out of range.
  explicit KMeans(KMeansOptions options = {});

  /// x: f32 [n, features], n >= n_clusters. Throws ShapeError for the shape, Error for NaN or
  /// infinity, and for squared distances that f32 cannot hold.
  void fit(const Tensor& x);
  /// The cluster of each sample: i32 [n].
  Tensor predict(const Tensor& x) const;
  /// The distance of each sample from each center: f32 [n, n_clusters].
  Tensor transform(const Tensor& x) const;
  /// The negative inertia of x.
  double score(const Tensor& x) const;

  // These throw Error before fit().
  const Tensor& cluster_centers() const;  // f32 [n_clusters, features]
  const Tensor& labels() const;           // i32 [n], of the samples of fit()
  double inertia() const;
  int64_t n_iter() const;  // of the start that was kept
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  KMeansOptions options_;
  Tensor centers_, labels_;
  double inertia_ = 0;
  int64_t n_iter_ = 0;
};

/// predict(), transform() and score() for any centers. `name` is for errors.
struct NearestCenters {
  Tensor labels;
  double inertia;
};
NearestCenters nearest_centers(const Tensor& x, const Tensor& centers, std::string_view name);
Tensor center_distances(const Tensor& x, const Tensor& centers, std::string_view name);
/// Throws Error for an inertia that is not finite: f32 cannot hold the squared distances.
void check_inertia(double inertia, std::string_view name);

}  // namespace kaiseki::ml
