// SPDX-License-Identifier: MIT
// The inner kernels of matrix products, for the best instruction set of this machine: a tile of C
// in registers, packing, and the epilogue of a tile.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::cpu {

/// C (rows x vectors * lanes) = beta * C + alpha * A B over k products. A's element (i, p) is at
/// a[p * a_stride + i], in the by-rows kernels at a[i * a_stride + p]. B's row p is at
/// b + p * b_stride. Each element is one chain of fused multiply-adds in the order of p, whatever
/// the tile. With beta 0 C is not read. Needs k >= 1.
struct Scale {
  float alpha = 1, beta = 0;
};
using TileFn = void (*)(int64_t k, const float* a, int64_t a_stride, const float* b,
                        int64_t b_stride, const Scale& scale, float* c, int64_t ldc);

/// What follows a product: C = activation(C + bias). Pointers may be null.
struct Epilogue {
  const float* bias_row = nullptr;  // of the first row given
  const float* bias_col = nullptr;  // of the first column given
  Activation activation = Activation::none;
  float slope = 0.01f;
  bool empty() const { return !bias_row && !bias_col && activation == Activation::none; }
};

struct GemmKernels {
  static constexpr int kMaxRows = 14, kMaxVectors = 2;

  int lanes;    // floats in a vector
  int rows;     // most rows of a tile
  int vectors;  // vectors across a full tile
  int columns() const { return vectors * lanes; }
  TileFn tile[2][kMaxVectors][kMaxRows];  // [by rows][vectors - 1][rows - 1]

  /// panel[p * width + i] = source[p * stride + i] for p in 0..k, i in 0..count; 0 for i in
  /// count..width.
  void (*pack)(int64_t k, int count, int width, const float* source, int64_t stride, float* panel);
  /// panel[p * width + i] = source[i * stride + p]; any value for i in count..width.
  void (*pack_transposed)(int64_t k, int count, int width, const float* source, int64_t stride,
                          float* panel);
  /// C = beta * C + alpha * tile; with beta 0 C is not read.
  void (*merge)(int64_t rows, int64_t columns, const float* tile, int64_t tile_stride, float alpha,
                float beta, float* c, int64_t ldc);
  void (*finish)(const Epilogue& epilogue, int64_t rows, int64_t columns, float* c, int64_t ldc);
};

/// Chosen once, when first asked.
const GemmKernels& gemm_kernels();

}  // namespace kaiseki::cpu
