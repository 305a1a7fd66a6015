// SPDX-License-Identifier: MIT
// Norms and traces of matrices. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

enum class MatrixNorm : uint8_t {
  frobenius,  // the root of the sum of squares
  one,        // the largest sum of magnitudes of a column
  infinity,   // the largest sum of magnitudes of a row
  two,        // the largest singular value
  nuclear     // the sum of the singular values
};

/// The norms [...] of a [..., m, n]. The norm of an empty matrix is 0. Throws ShapeError. Throws
/// LinearAlgebraError for NaN or infinite elements.
Tensor matrix_norm(const Tensor& a, MatrixNorm kind = MatrixNorm::frobenius);

/// The sums [...] of the diagonals of a [..., m, n].
Tensor trace(const Tensor& a);

}  // namespace kaiseki
