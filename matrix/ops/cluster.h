// SPDX-License-Identifier: MIT
// The steps of k-means: distances of rows from centers, and sums of the rows of each cluster.
// Differences are squared, so a large mean costs no digits, unlike with matrix products.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

/// f32 [count, n]: the squared distances of rows [n, features] from centers [count, features].
/// Throws ShapeError.
Tensor squared_distances(const Tensor& rows, const Tensor& centers);

struct NearestLabels {
  Tensor labels;   // i32 [n]: the nearest center of each row, of equal ones the first
  Tensor squares;  // f32 [n]: the squared distance from it
};
/// rows: f32 [n, features], centers: f32 [count, features], count >= 1. If a row has a NaN, its
/// label is 0. Throws ShapeError.
NearestLabels nearest_labels(const Tensor& rows, const Tensor& centers);

/// f32 [count, features + 1]: the sum of the rows with each label, and their number in the last
/// column. rows: f32 [n, features], labels: i32 [n], from 0 to count - 1. Another label throws
/// ShapeError on the CPU, and its row is skipped on other devices. The order of additions depends
/// only on the shapes.
Tensor cluster_sums(const Tensor& rows, const Tensor& labels, int64_t count);

}  // namespace kaiseki
