// SPDX-License-Identifier: MIT
// LU decomposition and determinants. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Row i of l u is row permutation[i] of the matrix.
struct LuResult {
  Tensor permutation;  // i32 [..., m]
  Tensor l;            // [..., m, k] with k = min(m, n); lower triangular, its diagonal is 1
  Tensor u;            // [..., k, n]; upper triangular
};

/// LU with partial pivoting of a [..., m, n]. A singular matrix has a 0 on the diagonal of u.
/// Throws ShapeError. Throws LinearAlgebraError for NaN or infinite elements.
LuResult lu(const Tensor& a);

/// The determinants [...] of a [..., n, n]. The determinant of an empty matrix is 1. Errors are
/// those of lu().
Tensor det(const Tensor& a);

/// The sign (-1, 0 or 1) and the logarithm of the magnitude of the determinants, both [...]. For a
/// singular matrix they are 0 and -infinity.
struct SlogdetResult {
  Tensor sign, log;
};
SlogdetResult slogdet(const Tensor& a);

}  // namespace kaiseki
