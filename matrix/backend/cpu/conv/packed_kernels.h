// SPDX-License-Identifier: MIT
// The inner loops of implicit GEMM convolution. Packed input is one plane [rows][out_w] for each
// channel and column tap. It holds the input rows, already shifted and padded. Every filter tap
// then reads all output pixels of a block of rows as one contiguous run.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Extra floats after the last plane of a packed buffer, because kernels read and write whole
/// vectors.
constexpr int64_t kPackSlack = 64;

struct PackArgs {
  const float* x;  // [channels][in_h][in_w]
  int64_t channels, in_h, in_w;
  /// Input row of each packed row, less first_row; rows outside 0..in_h are zeros.
  const int64_t* rows;
  int64_t first_row;
  int64_t row_count;
  const int64_t* columns;  // input column of output column 0 for each column tap
  int64_t column_taps, column_stride;
  int64_t out_w;
  float* padded;  // scratch memory of pack_scratch_floats() floats
  float* out;     // [channels][column_taps][row_count][out_w], plus slack
};
int64_t pack_scratch_floats(const PackArgs& args);
void pack_planes(const PackArgs& args);

/// The transpose of pack_planes: adds every packed value to the element of x that pack_planes reads
/// it from.
struct UnpackArgs {
  const float* packed;  // like PackArgs::out, with slack before it too
  int64_t channels, in_h, in_w;
  const int64_t* rows;
  int64_t first_row, row_count;
  const int64_t* columns;
  int64_t column_taps, column_stride;
  int64_t out_w;
  int64_t fresh;  // rows of x from here on are zeros
  float* x;
};
void unpack_planes(const UnpackArgs& args);

/// c[i][p] = sum over t of a[t][i] * b[offsets[t] + p], for i < m and p < pixels. Row i of c is at
/// i * ldc, or at rows[i]. Overlapping rows are added in order.
struct MultiplyArgs {
  const float* a;  // [ceil(m / block)][depth][block]; rows past m are zeros
  int64_t m, block, depth;
  const float* b;
  const int64_t* offsets;  // [depth]
  int64_t pixels;
  float* c;
  int64_t ldc;
  const int64_t* rows;  // [m] or nullptr
  bool accumulate;      // add to c
  bool finish;          // afterwards add bias and apply the activation
  const float* bias;    // [m] or nullptr
  Activation activation;
  float slope;
};
void multiply(const MultiplyArgs& args);
/// The best `block` for m rows on this CPU. Short sums may need another block than long ones.
int64_t multiply_block(int64_t m, int64_t depth = INT64_MAX);

/// out[i][positions[j]] += sum over units u and pixels p of y[u][i][p] * b[u][offsets[j] + p].
struct CorrelateArgs {
  int64_t units, pixels;
  const float* y;
  int64_t y_unit, ldy, m;
  const float* b;
  int64_t b_unit_stride;
  const int64_t* offsets;    // [taps]
  const int64_t* positions;  // [taps]
  int64_t taps;
  float* out;
  int64_t ldo;
};
void correlate(const CorrelateArgs& args);

}  // namespace kaiseki::conv
