// SPDX-License-Identifier: MIT
// The inner kernels of matrix products, for the best instruction set of this machine. They compute
// a tile of C in registers, pack operands, and apply the epilogue of a tile.
#pragma once

#include <cstdint>

#include "matrix/activation.h"
#include "matrix/backend/cpu/gemm_tile.h"

namespace kaiseki::cpu {

/// The step after a product: C = activation(C + bias). Pointers may be null.
struct Epilogue {
  const float* bias_row = nullptr;  // points to the value of the first row
  const float* bias_col = nullptr;  // points to the value of the first column
  Activation activation = Activation::none;
  float slope = 0.01f;
  bool empty() const { return !bias_row && !bias_col && activation == Activation::none; }
};

struct GemmKernels {
  static constexpr int kMaxRows = 14, kMaxVectors = 2;

  int lanes;    // floats per vector
  int rows;     // maximum number of rows of a tile
  int vectors;  // vectors in a row of a full tile
  int columns() const { return vectors * lanes; }
  TileFn tile[2][kMaxVectors][kMaxRows];  // [by rows][vectors - 1][rows - 1]

  /// panel[p * width + i] = source[p * stride + i] for p in 0..k, i in 0..count. Values for i in
  /// count..width are 0.
  void (*pack)(int64_t k, int count, int width, const float* source, int64_t stride, float* panel);
  /// panel[p * width + i] = source[i * stride + p]. Values for i in count..width are undefined.
  void (*pack_transposed)(int64_t k, int count, int width, const float* source, int64_t stride,
                          float* panel);
  /// C = beta * C + alpha * tile. If beta is 0, C is not read.
  void (*merge)(int64_t rows, int64_t columns, const float* tile, int64_t tile_stride, float alpha,
                float beta, float* c, int64_t ldc);
  void (*finish)(const Epilogue& epilogue, int64_t rows, int64_t columns, float* c, int64_t ldc);
};

/// Selects the kernels on the first call.
const GemmKernels& gemm_kernels();

}  // namespace kaiseki::cpu
