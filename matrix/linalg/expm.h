// SPDX-License-Identifier: MIT
// The matrix exponential. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// The exponentials [..., n, n] of a [..., n, n], by scaling, squaring and a Pade approximation
/// (Higham, "The scaling and squaring method for the matrix exponential revisited", 2005). f32 is
/// computed in f64. If a result overflows, some of its elements are infinite or NaN. Throws
/// ShapeError. Throws LinearAlgebraError for NaN or infinite elements.
Tensor expm(const Tensor& a);

}  // namespace kaiseki
