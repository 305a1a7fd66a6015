// SPDX-License-Identifier: MIT
// Neighbors by the distances of all pairs, from matrix products of blocks that fit the cache.
#pragma once

#include <vector>

#include "matrix/tensor.h"
#include "ml/neighbors/found.h"

namespace kaiseki::ml {

/// The queries are [q, features], the samples [n, features], contiguous and on the CPU. If
/// `same` is set, they are equal, and no sample is its own neighbor.
struct BruteSearch {
  const Tensor &samples, &queries;
  const std::vector<float>& mean;  // of the samples
  bool same = false;
};

/// The `most` nearest samples of each query, sorted. The products select somewhat more of them.
/// Their distances are then computed directly.
std::vector<std::vector<FoundNeighbor>> brute_nearest(const BruteSearch& search, int64_t most);
/// The samples of each query with a squared distance of `squared` or less, sorted.
std::vector<std::vector<FoundNeighbor>> brute_within(const BruteSearch& search, float squared);

}  // namespace kaiseki::ml
