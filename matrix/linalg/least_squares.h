// SPDX-License-Identifier: MIT
// Least squares, pseudoinverses and ranks, from the SVD. f32 or f64.
#pragma once

#include <optional>

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct LstsqResult {
  Tensor x;     // [..., n, r], or [..., n] for a vector b
  Tensor rank;  // i32 [...]
  Tensor s;     // [..., min(m, n)]; the singular values of a
};

/// The x of least norm that minimizes the norm of a x - b. a is [..., m, n]. b is [..., m] or
/// [..., m, r], with the same leading dimensions. Singular values up to `cutoff` times the largest
/// count as 0. Without a cutoff, it is max(m, n) times the precision of the type. Throws
/// ShapeError. Throws LinearAlgebraError for NaN or infinite elements.
LstsqResult lstsq(const Tensor& a, const Tensor& b, std::optional<double> cutoff = {});

/// The Moore-Penrose pseudoinverse [..., n, m] of a [..., m, n].
Tensor pinv(const Tensor& a, std::optional<double> cutoff = {});

/// The number of singular values above the cutoff: i32 [...].
Tensor matrix_rank(const Tensor& a, std::optional<double> cutoff = {});

}  // namespace kaiseki
