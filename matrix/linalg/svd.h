// SPDX-License-Identifier: MIT
// The singular value decomposition. f32 or f64.
#pragma once

#include "matrix/linalg/qr.h"

namespace kaiseki {

struct SvdResult {
  Tensor u;   // [..., m, k]; its columns are orthonormal
  Tensor s;   // [..., min(m, n)]; the singular values, descending
  Tensor vt;  // [..., k, n]; its rows are orthonormal
};

/// a = u diag(s) vt for a [..., m, n]. k is min(m, n). If the factors are full, u is [..., m, m]
/// and vt [..., n, n]. Throws ShapeError. Throws LinearAlgebraError for NaN or infinite elements,
/// or if the iteration does not converge.
SvdResult svd(const Tensor& a, FactorSize size = FactorSize::thin);

/// Only the largest `rank` singular values and their vectors: the best approximation of that rank.
/// 0 <= rank <= min(m, n).
SvdResult truncated_svd(const Tensor& a, int64_t rank);

struct RandomizedSvdOptions {
  int64_t oversampling = 10;  // more random vectors than the rank
  int power_iterations = 2;   // more of them are more accurate if the singular values decay slowly
  uint64_t seed = 0;
};
/// An approximation of truncated_svd() that is much faster for a small rank (Halko, Martinsson and
/// Tropp, "Finding structure with randomness", 2011). The same seed gives the same result.
SvdResult randomized_svd(const Tensor& a, int64_t rank, const RandomizedSvdOptions& options = {});

}  // namespace kaiseki
