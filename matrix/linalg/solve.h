// SPDX-License-Identifier: MIT
// Systems of linear equations, and inverses. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Returns x with a x = b. a is [..., n, n]. b is [..., n] for one right-hand side, or [..., n, r],
/// with the same leading dimensions. x has the shape of b. Throws ShapeError. Throws
/// LinearAlgebraError if a matrix is singular (a pivot is exactly 0), or for NaN or infinite
/// elements.
Tensor solve(const Tensor& a, const Tensor& b);

/// Returns the inverses of a [..., n, n]. Errors are those of solve().
Tensor inv(const Tensor& a);

}  // namespace kaiseki
