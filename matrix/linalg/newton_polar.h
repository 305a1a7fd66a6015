// SPDX-License-Identifier: MIT
// The polar decomposition by Newton's iteration. It needs about half the time of Halley's in
// matrix/linalg/polar.cc. It is accurate only if the inverse of the matrix is accurate.
#pragma once

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// A = U H. Overwrites A with U. Returns false and keeps A if an inverse may be inaccurate (Higham,
/// "Computing the polar decomposition - with applications", 1986; scaling: Byers and Xu, "A new
/// scaling for Newton's iteration for the polar decomposition and its backward stability", 2008).
template <typename T>
bool newton_polar(const MatrixView<T>& a);

}  // namespace kaiseki::linalg
