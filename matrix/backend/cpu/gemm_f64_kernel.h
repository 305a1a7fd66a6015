// SPDX-License-Identifier: MIT
// The inner kernels of matrix products in f64, for the best instruction set of this machine.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

struct GemmF64Kernels {
  static constexpr int kMaxRows = 14, kMaxColumns = 16;

  int rows, columns;  // of a full tile
  /// C (rows x columns) = alpha * A B + beta * C over k products. A is packed as [k, rows], B as
  /// [k, columns]. The index is the number of rows - 1. If beta is 0, C is not read.
  void (*tile[kMaxRows])(int64_t k, const double* a, const double* b, double alpha, double beta,
                         double* c, int64_t ldc);
};

/// Selects the kernels on the first call.
const GemmF64Kernels& gemm_f64_kernels();

}  // namespace kaiseki::cpu
