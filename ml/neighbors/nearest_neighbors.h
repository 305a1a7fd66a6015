// SPDX-License-Identifier: MIT
// The nearest samples of queries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "ml/neighbors/found.h"

namespace kaiseki::ml {

class DeviceSearch;
class KdTree;

/// `automatic`: a k-d tree below 20 features and from 256 samples, else brute force.
enum class NeighborsAlgorithm : uint8_t { automatic, brute, kd_tree };

struct NearestNeighborsOptions {
  int64_t n_neighbors = 5;
  double radius = 1;
  NeighborsAlgorithm algorithm = NeighborsAlgorithm::automatic;
  int64_t leaf_size = 30;  // samples of a leaf of the k-d tree
};

/// Neighbors of q queries, by distance, then by index.
struct Neighbors {
  Tensor distances;  // f32 [q, n_neighbors]
  Tensor indices;    // i32 [q, n_neighbors]
};

/// Those of query i are at starts[i]..starts[i + 1], by distance, then by index.
struct RadiusNeighbors {
  Tensor distances;  // f32 [total]
  Tensor indices;    // i32 [total]
  Tensor starts;     // i32 [q + 1]
};

/// Finds the samples of fit() that are nearest to a query, by Euclidean distance. Both algorithms
/// give the same result. `brute` searches neighbors on the device of the samples. The k-d tree and
/// searches by radius compute on the CPU, where they copy x. Results go to the device of the
/// queries.
class NearestNeighbors {
 public:
  /// Throws Error for a setting out of range.
  explicit NearestNeighbors(NearestNeighborsOptions options = {});

  /// x: f32 [n, features]. Keeps x, which must not change. Throws ShapeError, also for NaN and
  /// infinity.
  void fit(const Tensor& x);
  /// The neighbors of x: f32 [q, features]. n_neighbors: by default, that of the options. Throws
  /// ShapeError if there are fewer samples.
  Neighbors kneighbors(const Tensor& x, std::optional<int64_t> n_neighbors = {}) const;
  /// The same for the samples of fit(). A sample is not its own neighbor.
  Neighbors kneighbors_of_samples(std::optional<int64_t> n_neighbors = {}) const;
  /// All samples at a distance of `radius` or less.
  RadiusNeighbors radius_neighbors(const Tensor& x, std::optional<double> radius = {}) const;
  RadiusNeighbors radius_neighbors_of_samples(std::optional<double> radius = {}) const;

  const Tensor& samples() const;  // f32 [n, features]

 private:
  using Lists = std::vector<std::vector<FoundNeighbor>>;
  Lists nearest(const Tensor& queries, int64_t count, bool same) const;
  Lists within(const Tensor& queries, double radius, bool same) const;

  NearestNeighborsOptions options_;
  Tensor samples_;
  Device device_;
  std::vector<float> mean_;
  std::shared_ptr<const KdTree> tree_;
  std::shared_ptr<const DeviceSearch> device_search_;
};

}  // namespace kaiseki::ml
