// SPDX-License-Identifier: MIT
// The CPU's matrix product in f64, on plain pointers.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

/// C[i] = alpha * op(A[i]) op(B[i]) + beta * C[i], i in 0..batch, row-major, as Gemm describes it
/// (matrix/backend/cpu/gemm.h). The result has the same bits for any number of threads.
struct GemmF64 {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  double alpha = 1, beta = 0;
  const double* a = nullptr;
  int64_t lda = 0, stride_a = 0;
  const double* b = nullptr;
  int64_t ldb = 0, stride_b = 0;
  double* c = nullptr;
  int64_t ldc = 0, stride_c = 0;
};
void gemm_f64(const GemmF64& g);

}  // namespace kaiseki::cpu
