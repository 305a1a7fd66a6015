// SPDX-License-Identifier: MIT
// Products of a matrix and a vector, which read the matrix once and in place.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

struct GemvKernels {
  /// y[i] = sum over p < k of a[i * lda + p] x[p], for i < rows.
  void (*dots)(int64_t rows, int64_t k, const float* a, int64_t lda, const float* x, float* y);
  /// y[j] = sum over p < k of x[p] b[p * ldb + j], for j < columns.
  void (*sums)(int64_t columns, int64_t k, const float* b, int64_t ldb, const float* x, float* y);
};

/// Selects the kernels on the first call.
const GemvKernels& gemv_kernels();

}  // namespace kaiseki::cpu
