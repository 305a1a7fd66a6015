// SPDX-License-Identifier: MIT
// The QR decomposition. f32 or f64.
#pragma once

#include "matrix/linalg/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// How many columns orthogonal factors have: min(m, n) if thin, all m (or n) if full.
enum class FactorSize : uint8_t { thin, full };

struct QrResult {
  Tensor q;  // [..., m, k]; its columns are orthonormal
  Tensor r;  // [..., k, n]; upper triangular, the signs of its diagonal are not fixed
};

/// a = q r for a [..., m, n]. k is min(m, n), or m if the factors are full. Throws ShapeError.
/// Throws LinearAlgebraError for NaN or infinite elements.
QrResult qr(const Tensor& a, FactorSize size = FactorSize::thin);

}  // namespace kaiseki
