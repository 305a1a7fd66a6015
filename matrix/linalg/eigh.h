// SPDX-License-Identifier: MIT
// Eigenvalues and eigenvectors of symmetric matrices. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct EighResult {
  Tensor values;   // [..., n], ascending
  Tensor vectors;  // [..., n, n]; column i is the eigenvector of value i, with norm 1
};

/// a = vectors diag(values) vectors^T. Reads only the lower triangle of a [..., n, n]. Throws
/// ShapeError. Throws LinearAlgebraError for NaN or infinite elements, or if the iteration does not
/// converge.
EighResult eigh(const Tensor& a);

/// Only the eigenvalues [..., n], ascending.
Tensor eigvalsh(const Tensor& a);

}  // namespace kaiseki
