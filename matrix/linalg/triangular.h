// SPDX-License-Identifier: MIT
// Systems of equations with a triangular matrix.
#pragma once

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// op(A). Only one triangle is read. `upper` is the triangle of op(A), not of A as stored.
template <typename T>
struct Triangle {
  MatrixView<T> matrix;
  bool transposed = false, upper = false, unit = false;
};

/// B = op(A)^-1 B. Small blocks are solved on the thread team. The rest is matrix products.
template <typename T>
void solve_triangular(const Triangle<T>& a, const MatrixView<T>& b);

}  // namespace kaiseki::linalg
