// SPDX-License-Identifier: MIT
// Predictions of queries from their neighbors: votes for classes, and means of targets.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// `distance`: a neighbor counts with the inverse of its distance. If there are neighbors at
/// distance 0, only they count.
enum class NeighborWeights : uint8_t { uniform, distance };

/// The neighbors of q queries. Those of query i are at starts[i]..starts[i + 1].
struct WeightedNeighbors {
  std::vector<int32_t> starts;   // [q + 1]
  std::vector<int32_t> indices;  // [total]
  std::vector<double> weights;   // [total]; the sum for each query with neighbors is 1

  int64_t queries() const { return static_cast<int64_t>(starts.size()) - 1; }
};

/// distances: f32 [total], indices: i32 [total], in any shape.
WeightedNeighbors weigh_neighbors(std::vector<int32_t> starts, const Tensor& distances,
                                  const Tensor& indices, NeighborWeights weights);

/// codes: the class of each sample, from 0. Returns the sums of weights, [q, classes].
std::vector<double> class_votes(const WeightedNeighbors& neighbors,
                                const std::vector<int32_t>& codes, int64_t classes);
/// The class of each query with the largest sum. If sums are equal, the smallest class.
std::vector<int32_t> most_voted(const std::vector<double>& votes, int64_t classes);

/// targets: f32 [n] or [n, outputs], on the host. Returns weighted means, f32 [q] or [q, outputs].
/// They are NaN for a query without neighbors.
Tensor mean_targets(const WeightedNeighbors& neighbors, const Tensor& targets, Device device);

}  // namespace kaiseki::ml
