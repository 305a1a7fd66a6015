// SPDX-License-Identifier: MIT
// Packs both operands and multiplies them in tiles. A block of A stays in the second-level cache.
#include "matrix/backend/cpu/gemm_f64.h"

#include <algorithm>
#include <cstring>

#include "matrix/backend/cpu/gemm_f64_kernel.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/host.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kDepth = 320;  // a panel of A (14 x 320 doubles) fits the first-level cache
constexpr int64_t kBlockColumns = 256;   // of C, for one task
constexpr int64_t kGroupColumns = 4096;  // of B, packed together
constexpr int64_t kPanelsA = 12;         // of C's rows, for one task
constexpr double kTaskFlops = 2e6;       // smaller products run on one thread

thread_local Scratch scratch_a, scratch_b;

double* reserve(Scratch& scratch, int64_t doubles) {
  return reinterpret_cast<double*>(scratch.reserve(2 * doubles));
}

/// A call of memmove() for so few elements would cost more than the copy.
void copy_few(const double* from, int64_t count, double* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(double));
  for (; i < count; ++i) to[i] = from[i];
}

/// to[p * width + i] = element (i, p) for i in 0..count, and 0 for i in count..width.
void pack(const double* from, int64_t stride_i, int64_t stride_p, int64_t count, int64_t width,
          int64_t k, double* to) {
  for (int64_t p = 0; p < k; ++p) {
    double* row = to + p * width;
    if (stride_i == 1)
      copy_few(from + p * stride_p, count, row);
    else
      for (int64_t i = 0; i < count; ++i) row[i] = from[i * stride_i + p * stride_p];
    std::fill(row + count, row + width, 0.0);
  }
}

void scale(const GemmF64& g, double* c) {
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      double& value = c[i * g.ldc + j];
      value = g.beta == 0 ? 0 : g.beta * value;
    }
}

class ProductF64 {
 public:
  ProductF64(const GemmF64& g, const double* a, const double* b, double* c)
      : g_(g), a_(a), b_(b), c_(c) {}

  void run() {
    const bool parallel = 2.0 * g_.m * g_.n * g_.k > kTaskFlops;
    const int64_t rows = kPanelsA * kernels_.rows, row_blocks = ceil_div(g_.m, rows);
    for (int64_t column = 0; column < g_.n; column += kGroupColumns) {
      const int64_t width = std::min(kGroupColumns, g_.n - column);
      const int64_t panels = ceil_div(width, kernels_.columns);
      const int64_t blocks = ceil_div(width, kBlockColumns), tasks = row_blocks * blocks;
      for (int64_t first = 0; first < g_.k; first += kDepth) {
        throw_if_stopped();
        const int64_t depth = std::min(kDepth, g_.k - first);
        double* packed = reserve(scratch_b, panels * kernels_.columns * depth);
        parallel_for(panels, parallel ? 8 : panels, [&](int64_t begin, int64_t end) {
          for (int64_t p = begin; p < end; ++p)
            pack_b(column + p * kernels_.columns, first, depth,
                   packed + p * kernels_.columns * depth);
        });
        parallel_for(tasks, parallel ? 1 : tasks, [&](int64_t begin, int64_t end) {
          for (int64_t t = begin; t < end; ++t)
            block({.row = t / blocks * rows,
                   .row_end = std::min(g_.m, (t / blocks + 1) * rows),
                   .column = column + t % blocks * kBlockColumns,
                   .column_end = column + std::min(width, (t % blocks + 1) * kBlockColumns),
                   .first = first,
                   .depth = depth},
                  packed + t % blocks * kBlockColumns * depth);
        });
      }
    }
  }

 private:
  struct Block {
    int64_t row, row_end, column, column_end, first, depth;
  };

  void pack_b(int64_t column, int64_t first, int64_t depth, double* to) const {
    const int64_t stride_j = g_.trans_b ? g_.ldb : 1, stride_p = g_.trans_b ? 1 : g_.ldb;
    pack(b_ + column * stride_j + first * stride_p, stride_j, stride_p,
         std::min<int64_t>(kernels_.columns, g_.n - column), kernels_.columns, depth, to);
  }

  void block(const Block& at, const double* packed_b) const {
    const int64_t stride_i = g_.trans_a ? 1 : g_.lda, stride_p = g_.trans_a ? g_.lda : 1;
    double* packed_a = reserve(scratch_a, kernels_.rows * at.depth);
    // Panels of nearly equal size: a last panel of one row costs as much time as a full one.
    const int64_t count = at.row_end - at.row, panels = ceil_div(count, kernels_.rows);
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t row = at.row + count * p / panels, end = at.row + count * (p + 1) / panels;
      pack(a_ + row * stride_i + at.first * stride_p, stride_i, stride_p, end - row, end - row,
           at.depth, packed_a);
      const double* b = packed_b;
      for (int64_t column = at.column; column < at.column_end; column += kernels_.columns) {
        tile(end - row, std::min<int64_t>(kernels_.columns, at.column_end - column), at, packed_a,
             b, c_ + row * g_.ldc + column);
        b += kernels_.columns * at.depth;
      }
    }
  }

  void tile(int64_t rows, int64_t columns, const Block& at, const double* a, const double* b,
            double* c) const {
    const double beta = at.first == 0 ? g_.beta : 1;
    const auto multiply = kernels_.tile[rows - 1];
    if (columns == kernels_.columns) return multiply(at.depth, a, b, g_.alpha, beta, c, g_.ldc);
    double edge[GemmF64Kernels::kMaxRows * GemmF64Kernels::kMaxColumns];
    multiply(at.depth, a, b, g_.alpha, 0, edge, kernels_.columns);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        double& value = c[i * g_.ldc + j];
        const double product = edge[i * kernels_.columns + j];
        value = beta == 0 ? product : product + beta * value;
      }
  }

  const GemmF64Kernels& kernels_ = gemm_f64_kernels();
  const GemmF64& g_;
  const double *a_, *b_;
  double* c_;
};

}  // namespace

void gemm_f64(const GemmF64& g) {
  if (g.m == 0 || g.n == 0) return;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* c = g.c + i * g.stride_c;
      if (g.k == 0 || g.alpha == 0)
        scale(g, c);
      else
        ProductF64(g, g.a + i * g.stride_a, g.b + i * g.stride_b, c).run();
    }
  };
  if (g.batch >= 2 * thread_count())
    parallel_for(g.batch, 1, run);
  else
    run(0, g.batch);
}

}  // namespace kaiseki::cpu
