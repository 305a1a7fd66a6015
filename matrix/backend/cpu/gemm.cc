// SPDX-License-Identifier: MIT
// Chooses how a matrix product is computed: the operands to pack and the work to run in parallel.
#include "matrix/backend/cpu/gemm.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "matrix/backend/cpu/gemm_blocked.h"
#include "matrix/backend/cpu/gemm_f64.h"
#include "matrix/backend/cpu/gemv.h"
#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kSmallOperand = 128 * 1024 / 4;  // floats
// Products per element; from here on, transposing a tile costs little.
constexpr int64_t kLongSum = 128;
// One task of a product with a vector has this many results, or this many elements of the matrix.
constexpr int64_t kGemvResults = 64, kGemvElements = 1 << 16;
// If there are fewer results than kFewResults, the sums are split.
constexpr int64_t kFewResults = 256, kSplitMultiple = 256, kMostPieces = 32;
// Rows at this distance map to the same set of the first-level cache.
constexpr int64_t kAliasing = 4096 / 4;

void scale_and_finish(const Gemm& g, float* c) {
  const GemmKernels& kernels = gemm_kernels();
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      float& value = c[i * g.ldc + j];
      value = g.beta == 0 ? 0 : g.beta * value;
    }
  kernels.finish({g.bias_row, g.bias_col, g.activation, g.slope}, g.m, g.n, c, g.ldc);
}

/// A product where one side of C is 1, as a matrix and a vector.
struct Gemv {
  const float* matrix;
  int64_t ld;
  bool sums;  // of the rows of the matrix, else dot products with them
  const float* vector;
  int64_t size;  // of the result
};

/// Returns nothing if an operand has the wrong strides.
std::optional<Gemv> as_gemv(const Gemm& g, const float* a, const float* b) {
  if (g.n == 1 && g.ldc == 1 && (g.trans_b || g.ldb == 1 || g.k == 1))
    return Gemv{a, g.lda, g.trans_a, b, g.m};
  if (g.m == 1 && (!g.trans_a || g.lda == 1 || g.k == 1)) return Gemv{b, g.ldb, !g.trans_b, a, g.n};
  return std::nullopt;
}

/// Products first..first + depth of `count` results from `begin` on.
void multiply_part(const Gemv& v, int64_t begin, int64_t count, int64_t first, int64_t depth,
                   float* values) {
  const GemvKernels& gemv = gemv_kernels();
  if (v.sums)
    gemv.sums(count, depth, v.matrix + first * v.ld + begin, v.ld, v.vector + first, values);
  else
    gemv.dots(count, depth, v.matrix + begin * v.ld + first, v.ld, v.vector + first, values);
}

/// C from the values of a product with alpha 1. C is a row here, so the biases of a column change
/// places.
void finish_gemv(const Gemm& g, int64_t begin, int64_t count, const float* values, float* c) {
  gemm_kernels().merge(1, count, values, count, g.alpha, g.beta, c + begin, count);
  const float *along = g.m == 1 ? g.bias_col : g.bias_row,
              *single = g.m == 1 ? g.bias_row : g.bias_col;
  const Epilogue epilogue{single, along ? along + begin : nullptr, g.activation, g.slope};
  if (!epilogue.empty()) gemm_kernels().finish(epilogue, 1, count, c + begin, count);
}

/// Few results with long sums: threads add pieces of the sums. The pieces do not depend on the
/// number of threads.
void run_split_gemv(const Gemm& g, const Gemv& v, float* c) {
  const int64_t least = std::max(kGemvElements / v.size, ceil_div(g.k, kMostPieces));
  const int64_t depth = round_up(least, kSplitMultiple);
  const int64_t pieces = ceil_div(g.k, depth);
  std::vector<float> parts(static_cast<size_t>(pieces * v.size));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      multiply_part(v, 0, v.size, i * depth, std::min(depth, g.k - i * depth),
                    parts.data() + i * v.size);
  });
  for (int64_t i = 1; i < pieces; ++i)
    for (int64_t j = 0; j < v.size; ++j) parts[j] += parts[i * v.size + j];
  finish_gemv(g, 0, v.size, parts.data(), c);
}

void run_gemv(const Gemm& g, const Gemv& v, float* c) {
  if (v.size < kFewResults && v.size * g.k > 2 * kGemvElements) return run_split_gemv(g, v, c);
  const int64_t grain = std::max(kGemvResults, kGemvElements / g.k);
  parallel_for(v.size, grain, [&](int64_t begin, int64_t end) {
    float* const values = thread_scratch(static_cast<size_t>(std::min(grain, end - begin)));
    for (int64_t i = begin; i < end; i += grain) {
      const int64_t count = std::min(grain, end - i);
      multiply_part(v, i, count, 0, g.k, values);
      finish_gemv(g, i, count, values, c);
    }
  });
}

void gemm_one(const Gemm& g, const float* a, const float* b, float* c) {
  if (g.k == 0 || g.alpha == 0) return scale_and_finish(g, c);
  if (const auto gemv = as_gemv(g, a, b)) return run_gemv(g, *gemv, c);
  const Epilogue epilogue{g.bias_row, g.bias_col, g.activation, g.slope};
  const GemmKernels& kernels = gemm_kernels();
  // If C is computed transposed, rows of B can be read in place. With few rows of A, packing B is
  // expensive.
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

void gemm_tensors_f64(const GemmArgs& args) {
  gemm_f64({.trans_a = args.trans_a,
            .trans_b = args.trans_b,
            .m = args.m,
            .n = args.n,
            .k = args.k,
            .batch = args.batch,
            .alpha = args.alpha,
            .beta = args.beta,
            .a = static_cast<const double*>(args.a->host_pointer(Access::read)),
            .lda = args.lda,
            .stride_a = args.stride_a,
            .b = static_cast<const double*>(args.b->host_pointer(Access::read)),
            .ldb = args.ldb,
            .stride_b = args.stride_b,
            .c = static_cast<double*>(args.c->host_pointer(Access::read_write)),
            .ldc = args.ldc,
            .stride_c = args.stride_c});
}

void gemm_tensors(const GemmArgs& args) {
  if (args.c->dtype() == DType::f64) return gemm_tensors_f64(args);
  Gemm g;
  g.trans_a = args.trans_a;
  g.trans_b = args.trans_b;
  g.m = args.m;
  g.n = args.n;
  g.k = args.k;
  g.batch = args.batch;
  g.alpha = static_cast<float>(args.alpha);
  g.beta = static_cast<float>(args.beta);
  g.a = static_cast<const float*>(args.a->host_pointer(Access::read));
  g.lda = args.lda;
  g.stride_a = args.stride_a;
  g.b = static_cast<const float*>(args.b->host_pointer(Access::read));
  g.ldb = args.ldb;
  g.stride_b = args.stride_b;
  const float* bias = args.bias ? args.bias->data<float>() : nullptr;
  if (args.bias_kind == GemmArgs::Bias::per_row) g.bias_row = bias;
  if (args.bias_kind == GemmArgs::Bias::per_column) g.bias_col = bias;
  g.activation = args.activation;
  g.slope = args.slope;
  g.c = static_cast<float*>(args.c->host_pointer(Access::read_write));
  g.ldc = args.ldc;
  g.stride_c = args.stride_c;
  gemm(g);
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

void add_gemm(KernelTable& kernels) { kernels.add(kGemm, gemm_tensors); }

}  // namespace kaiseki::cpu
