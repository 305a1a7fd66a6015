// SPDX-License-Identifier: MIT
// The Kronecker product. f32 or f64.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

/// Returns [..., m p, n q] for a [..., m, n] and b [..., p, q] with the same leading dimensions:
/// block (i, j) is a[i, j] b. Throws ShapeError.
Tensor kron(const Tensor& a, const Tensor& b);

}  // namespace kaiseki
