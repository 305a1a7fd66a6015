// SPDX-License-Identifier: MIT
// Distances of rows from centers, and sums of the rows of each cluster.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Squared distances of rows [n, features] from centers [count, features], by differences and not
/// by products. All f32 and contiguous. count and features are 1 or more.
struct SquaredDistancesArgs {
  int64_t n, features, count;
  const Tensor *rows, *centers;
  Tensor* distances;  // [count, n]
};

/// The first nearest center (i32 [n]) of each row, and the squared distance from it (f32 [n]).
struct NearestLabelsArgs {
  int64_t n, features, count;
  const Tensor *rows, *centers;
  Tensor *labels, *squares;
};

/// Sums of the rows with each label: f32 [count, features + 1]. The last column is the number of
/// rows. Labels (i32 [n]) are from 0 to count - 1.
struct ClusterSumsArgs {
  int64_t n, features, count;
  const Tensor *rows, *labels;
  Tensor* sums;
};

inline constexpr Operation<SquaredDistancesArgs> kSquaredDistances{"squared_distances"};
inline constexpr Operation<NearestLabelsArgs> kNearestLabels{"nearest_labels"};
inline constexpr Operation<ClusterSumsArgs> kClusterSums{"cluster_sums"};

/// The number of pieces in which rows are added. It depends only on the shapes, so the sums do too.
/// The sums of all pieces take at most an eighth of the memory of the rows. For few rows they may
/// take more.
inline int64_t cluster_pieces(const ClusterSumsArgs& args) {
  constexpr int64_t kMost = 64;
  const int64_t pieces = args.n / (8 * args.count);
  return pieces < 1 ? 1 : pieces > kMost ? kMost : pieces;
}

}  // namespace kaiseki
