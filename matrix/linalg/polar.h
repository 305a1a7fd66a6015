// SPDX-License-Identifier: MIT
// The polar decomposition of a square matrix in host memory.
#pragma once

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// A = U H. Overwrites A with U, which is orthogonal. If A is singular, U maps the null space of A
/// to 0 instead. Uses Newton's iteration if it is accurate. Otherwise it uses Halley's, which
/// consists of products, QR and Cholesky decompositions (Nakatsukasa, Bai and Gygi, "Optimizing
/// Halley's iteration for computing the matrix polar decomposition", 2010).
template <typename T>
void polar_factor(const MatrixView<T>& a);

}  // namespace kaiseki::linalg
