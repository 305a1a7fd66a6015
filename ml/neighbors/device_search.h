// SPDX-License-Identifier: MIT
// Neighbors by the distances of all pairs, on the device of the samples. Only the candidates of
// each query and their distances come to the host.
#pragma once

#include <vector>

#include "matrix/tensor.h"
#include "ml/neighbors/found.h"

namespace kaiseki::ml {

class DeviceSearch {
 public:
  /// samples: f32 [n, features] with this mean. If the mean is far from 0, this makes a copy around
  /// it, because products would lose digits.
  DeviceSearch(const Tensor& samples, const std::vector<float>& mean, double total_variance);

  /// The `most` nearest samples of each query [q, features], sorted. If `same` is set, the queries
  /// are the samples, and no sample is its own neighbor.
  std::vector<std::vector<FoundNeighbor>> nearest(const Tensor& queries, int64_t most,
                                                  bool same) const;

 private:
  Tensor candidates_of(const Tensor& queries, int64_t count) const;

  Tensor samples_, centered_, norms_, origin_;  // [n, features] twice, [n], [1, features]
};

}  // namespace kaiseki::ml
