// SPDX-License-Identifier: MIT
// The product of a packed filter and packed planes, tile by tile.
#include <algorithm>

#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/backend/cpu/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/packed_multiply.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

constexpr int64_t kShortDepth = 64;  // products that sum at most this many terms are short
constexpr int kShortRows = 8;        // rows of a tile of a short product
constexpr int kShortVectors = 3;

/// Stores a tile [rows][width] in c, or adds it, and applies bias and activation if asked.
HWY_NOINLINE void store_tile(const MultiplyArgs& t, const float* tile, int64_t width, int64_t row,
                             int64_t pixel, int64_t rows) {
  for (int64_t i = row; i < std::min(t.m, row + rows); ++i, tile += width) {
    const V bias = hn::Set(d, t.finish && t.bias ? t.bias[i] : 0.0f);
    for (int64_t j = 0; j < std::min(width, t.pixels - pixel); j += kLanes) {
      float* to = t.c + (t.rows ? t.rows[i] : i * t.ldc) + pixel + j;
      const int64_t count = std::min(kLanes, t.pixels - pixel - j);
      V v = hn::Load(d, tile + j);
      if (t.accumulate)
        v = hn::Add(v, count == kLanes ? hn::LoadU(d, to) : load_part(d, to, count));
      if (t.finish) v = activate(d, hn::Add(v, bias), t.activation, t.slope);
      if (count == kLanes)
        hn::StoreU(v, d, to);
      else
        store_part(d, v, to, count);
    }
  }
}

template <int kRows, int kVectors>
void multiply_tile(const MultiplyArgs& t, const float* a, int64_t row, int64_t pixel) {
  V acc[kRows][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(3)
    for (int j = 0; j < kVectors; ++j) acc[i][j] = hn::Zero(d);
  }
  const float* b = t.b + pixel;
  for (int64_t k = 0; k < t.depth; ++k, a += kRows) {
    const float* from = b + t.offsets[k];
    V x[kVectors];
    HWY_UNROLL(3)
    for (int j = 0; j < kVectors; ++j) x[j] = hn::LoadU(d, from + j * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      const V w = hn::Set(d, a[i]);
      HWY_UNROLL(3)
      for (int j = 0; j < kVectors; ++j) acc[i][j] = hn::MulAdd(w, x[j], acc[i][j]);
    }
  }
  constexpr int64_t kWidth = kVectors * kLanes;
  const bool relu = t.activation == Activation::relu && t.finish;
  const bool part = row + kRows > t.m || pixel + kWidth > t.pixels;
  if (part || (t.finish && t.accumulate) ||
      (t.finish && !relu && t.activation != Activation::none)) {
    HWY_ALIGN float tile[kRows * kWidth];
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      HWY_UNROLL(3)
      for (int j = 0; j < kVectors; ++j) hn::Store(acc[i][j], d, tile + i * kWidth + j * kLanes);
    }
    return store_tile(t, tile, kWidth, row, pixel, kRows);
  }
  if (t.accumulate) {
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      float* c = t.c + (t.rows ? t.rows[row + i] : (row + i) * t.ldc) + pixel;
      HWY_UNROLL(3)
      for (int j = 0; j < kVectors; ++j)
        hn::StoreU(hn::Add(acc[i][j], hn::LoadU(d, c + j * kLanes)), d, c + j * kLanes);
    }
    return;
  }
  static constexpr float kNoBias[kRows] = {};
  const float* bias = t.finish && t.bias ? t.bias + row : kNoBias;
  float* c = t.c + row * t.ldc + pixel;
  const V zero = hn::Zero(d);
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i, c += t.ldc) {
    HWY_UNROLL(3)
    for (int j = 0; j < kVectors; ++j) {
      const V v = hn::Add(acc[i][j], hn::Set(d, bias[i]));
      hn::StoreU(relu ? hn::IfThenZeroElse(hn::Lt(v, zero), v) : v, d, c + j * kLanes);
    }
  }
}

template <int kRows>
void multiply_block_at(const MultiplyArgs& t, int64_t block, int64_t pixel) {
  const float* a = t.a + block * kRows * t.depth;
  if (t.pixels - pixel > kLanes)
    multiply_tile<kRows, 2>(t, a, block * kRows, pixel);
  else
    multiply_tile<kRows, 1>(t, a, block * kRows, pixel);
}

/// For short products, writing the result takes most of the time, so few rows are written at a
/// time.
template <int kRows>
void multiply_rows(const MultiplyArgs& t) {
  const int64_t blocks = (t.m + kRows - 1) / kRows;
  if (t.depth > kShortDepth) {
    for (int64_t p = 0; p < t.pixels; p += 2 * kLanes)
      for (int64_t block = 0; block < blocks; ++block) multiply_block_at<kRows>(t, block, p);
    return;
  }
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t p = 0;
    if constexpr (kRows == kShortRows)
      for (; p + kShortVectors * kLanes <= t.pixels; p += kShortVectors * kLanes)
        multiply_tile<kRows, kShortVectors>(t, t.a + block * kRows * t.depth, block * kRows, p);
    for (; p < t.pixels; p += 2 * kLanes) multiply_block_at<kRows>(t, block, p);
  }
}

void multiply(const MultiplyArgs& t) {
  if constexpr (kManyRegisters) {
    if (t.block == 8) return multiply_rows<8>(t);
    if (t.block == 10) return multiply_rows<10>(t);
    if (t.block == 13) return multiply_rows<13>(t);
  }
  if (t.block == 6) return multiply_rows<6>(t);
  if (t.block == 4) return multiply_rows<4>(t);
  if (t.block == 2) return multiply_rows<2>(t);
  multiply_rows<1>(t);
}

int64_t multiply_block(int64_t m, int64_t depth) {
  int64_t best = 1, best_cost = INT64_MAX;
  for (int64_t block : {1, 2, 4, 6, 8, 10, 13}) {
    if (block > 6 && !kManyRegisters) break;
    const bool wide = depth <= kShortDepth && block == kShortRows && m > 6;
    const int64_t loads = wide ? 0 : 2;
    const int64_t cost = (m + block - 1) / block * (block + loads);
    if (cost <= best_cost) best = block, best_cost = cost;
  }
  return best;
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(multiply);
HWY_EXPORT(multiply_block);

void multiply(const MultiplyArgs& args) {
  HWY_DYNAMIC_DISPATCH(multiply)(args);
  if (args.finish && !is_cheap(args.activation))
    cpu::gemm_kernels().finish({.activation = args.activation, .slope = args.slope}, args.m,
                               args.pixels, args.c, args.ldc);
}
int64_t multiply_block(int64_t m, int64_t depth) {
  return HWY_DYNAMIC_DISPATCH(multiply_block)(m, depth);
}
}  // namespace kaiseki::conv
#endif
