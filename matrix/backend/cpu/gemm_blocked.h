// SPDX-License-Identifier: MIT
// The blocked matrix product that GEMM and implicit-GEMM convolution share. Operands come panel by
// panel from a PanelSource, which may gather them from anywhere (im2col on the fly).
// Blocking after Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008).
#pragma once

#include <cstdint>
#include <limits>

#include "matrix/backend/cpu/gemm_kernel.h"

namespace kaiseki::cpu {

/// Where a panel lies: element (p, i) is at data[p * stride + i], or at data[i * stride + p] when
/// by_rows (left operand only).
struct Panel {
  const float* data;
  int64_t stride;
  bool by_rows = false;
};

/// One operand, k x extent: extent is m for the left one, n for the right one. Called from many
/// threads at once.
class PanelSource {
 public:
  virtual ~PanelSource() = default;
  /// Elements (p, i) for p in k0..k0+k and i in i0..i0+count. Either writes them to
  /// `buffer[(p - k0) * width + (i - i0)]`, any value for i - i0 in count..width, and returns
  /// {buffer, width}; or returns where they already lie (with `width` readable elements a row).
  /// buffer holds k * width floats, 64-byte aligned only when width is. width is a number of whole
  /// vectors for the right operand, and count for the left one.
  virtual Panel panel(int64_t k0, int64_t k, int64_t i0, int count, int width,
                      float* buffer) const = 0;
  /// How many k to ask for at once where several panels are packed: few when neighbouring panels
  /// lie in the same rows of memory, so that these are read from end to end.
  virtual int64_t k_step() const { return std::numeric_limits<int64_t>::max(); }
  /// What an element costs to gather, relative to a packed matrix; 0 where it is used in place. The
  /// operand that costs more is gathered by fewer tasks.
  virtual double cost() const { return 1; }
};

/// An operand that is a matrix in memory; element (p, i) is at data[p * stride + i], or at
/// data[i * stride + p] when by_rows. Returned in place where that is possible and `in_place`.
class MatrixSource final : public PanelSource {
 public:
  MatrixSource(const float* data, int64_t stride, bool by_rows, bool left, bool in_place)
      : data_(data), stride_(stride), by_rows_(by_rows), left_(left), in_place_(in_place) {}
  Panel panel(int64_t k0, int64_t k, int64_t i0, int count, int width,
              float* buffer) const override;
  int64_t k_step() const override;
  double cost() const override { return in_place_ ? 0 : 1; }

 private:
  const float* data_;
  int64_t stride_;
  bool by_rows_, left_, in_place_;
};

/// The result, m x n. Columns come in groups of `group` (0: all in one): column j of row i is at
/// c + (j / group) * group_stride + i * ldc + j % group. So y [N, K, H*W] of a convolution is one
/// matrix of K rows and N*H*W columns. C = activation(alpha * A B + beta * C + bias).
struct BlockedOutput {
  float* c = nullptr;
  int64_t ldc = 0;
  int64_t group = 0, group_stride = 0;
  float alpha = 1, beta = 0;
  const float* bias_row = nullptr;  // m values
  const float* bias_col = nullptr;  // n values
  Activation activation = Activation::none;
  float slope = 0.01f;
};

/// Runs on the thread pool (on the calling thread inside a parallel_for). k is cut in the same
/// pieces whatever the number of threads, so the bits of the result do not depend on it. Needs k
/// >= 1. Memory: one buffer a thread of at most 4 MiB, kept for the next call.
void gemm_blocked(int64_t m, int64_t n, int64_t k, const PanelSource& a, const PanelSource& b,
                  const BlockedOutput& out);

/// The length of the pieces in which gemm_blocked cuts k: a source may choose its order of k by it.
int64_t gemm_k_block(int64_t k);

}  // namespace kaiseki::cpu
