// SPDX-License-Identifier: MIT
// Chooses how a matrix product is computed: which operands are packed, and what runs in parallel.
#include "matrix/backend/cpu/gemm.h"

#include "matrix/backend/cpu/gemm_blocked.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kSmallOperand = 128 * 1024 / 4;  // floats
constexpr int64_t kLongSum = 128;  // products an element, beside which turning a tile costs little
constexpr int64_t kAliasing = 4096 / 4;  // rows so far apart share one set of the first-level cache

void scale_and_finish(const Gemm& g, float* c) {
  const GemmKernels& kernels = gemm_kernels();
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      float& value = c[i * g.ldc + j];
      value = g.beta == 0 ? 0 : g.beta * value;
    }
  kernels.finish({g.bias_row, g.bias_col, g.activation, g.slope}, g.m, g.n, c, g.ldc);
}

void gemm_one(const Gemm& g, const float* a, const float* b, float* c) {
  if (g.k == 0 || g.alpha == 0) return scale_and_finish(g, c);
  const Epilogue epilogue{g.bias_row, g.bias_col, g.activation, g.slope};
  const GemmKernels& kernels = gemm_kernels();
  // Rows of B are read as they lie when C is computed transposed: with few rows of A packing B
  // costs much.
  if (g.trans_b && g.m < g.n && g.k >= kLongSum && g.ldb % kAliasing != 0) {
    const bool in_place = g.trans_a && (g.n <= 2 * kernels.rows || g.m * g.k <= kSmallOperand);
    return gemm_blocked({.m = g.n,
                         .n = g.m,
                         .k = g.k,
                         .a = {b, g.ldb, true, true},
                         .b = {a, g.lda, !g.trans_a, in_place},
                         .c = c,
                         .ldc = g.ldc,
                         .transposed = true,
                         .alpha = g.alpha,
                         .beta = g.beta,
                         .epilogue = epilogue});
  }
  const bool aliased = g.lda % kAliasing == 0;
  const bool use_a =
      g.n <= 4 * kernels.columns() || g.m * g.k <= kSmallOperand || (!g.trans_a && !aliased);
  const bool use_b = g.m <= 2 * kernels.rows || g.k * g.n <= kSmallOperand;
  gemm_blocked({.m = g.m,
                .n = g.n,
                .k = g.k,
                .a = {a, g.lda, !g.trans_a, use_a},
                .b = {b, g.ldb, g.trans_b, use_b},
                .c = c,
                .ldc = g.ldc,
                .alpha = g.alpha,
                .beta = g.beta,
                .epilogue = epilogue});
}

}  // namespace

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0 || g.batch == 0) return;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      gemm_one(g, g.a + i * g.stride_a, g.b + i * g.stride_b, g.c + i * g.stride_c);
  };
  if (g.batch >= 2 * thread_count())
    parallel_for(g.batch, 1, run);
  else
    run(0, g.batch);
}

}  // namespace kaiseki::cpu
