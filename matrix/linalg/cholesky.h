// SPDX-License-Identifier: MIT
// The Cholesky decomposition. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Returns the lower triangular l [..., n, n] with a positive diagonal and a = l l^T. Reads only
/// the lower triangle of a [..., n, n]. Throws ShapeError. Throws LinearAlgebraError if a matrix is
/// not positive definite, or for NaN or infinite elements.
Tensor cholesky(const Tensor& a);

}  // namespace kaiseki
