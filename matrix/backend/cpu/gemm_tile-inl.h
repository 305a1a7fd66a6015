// SPDX-License-Identifier: MIT
// The register tile of a matrix product: rows of A are broadcast and multiplied by vectors of B.
#if defined(KAISEKI_GEMM_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_GEMM_TILE_INL_H
#undef KAISEKI_GEMM_TILE_INL_H
#else
#define KAISEKI_GEMM_TILE_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>

#include "matrix/backend/cpu/gemm_tile.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With 32 vector registers: 14 x 2 accumulators, two vectors of B and a broadcast. With 16
// registers: 6 x 2 accumulators.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kTileRows = 14;
#else
constexpr int kTileRows = 6;
#endif

// Without this barrier, GCC computes the addresses of all rows of C before the loop. It then runs
// out of registers and spills a vector inside the loop.
inline void keep_out_of_loop(float*& c, int64_t& ldc) {
#if defined(__GNUC__)
  __asm__("" : "+r"(c), "+r"(ldc));
#endif
}

/// Adds one product to every element of a tile: a row of B times a column of A.
template <bool kByRows, bool kFirst, typename V, int kRows, int kVectors>
HWY_INLINE void multiply_add(const float* HWY_RESTRICT a, int64_t a_stride,
                             const float* HWY_RESTRICT b, V (&sum)[kRows][kVectors]) {
  const hn::DFromV<V> d;
  V right[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) right[j] = hn::LoadU(d, b + j * hn::MaxLanes(d));
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const V left = hn::Set(d, kByRows ? a[i * a_stride] : a[i]);
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      sum[i][j] = kFirst ? hn::Mul(left, right[j]) : hn::MulAdd(left, right[j], sum[i][j]);
  }
}

template <bool kScale, bool kAdd, typename V, int kRows, int kVectors>
HWY_INLINE void store_tile(const V (&sum)[kRows][kVectors], const Scale& s, float* c, int64_t ldc) {
  const hn::DFromV<V> d;
  const V alpha = hn::Set(d, s.alpha), beta = hn::Set(d, s.beta);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, c += ldc) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      float* target = c + j * hn::MaxLanes(d);
      V v = kScale ? hn::Mul(alpha, sum[i][j]) : sum[i][j];
      if (kAdd) v = hn::MulAdd(beta, hn::LoadU(d, target), v);
      hn::StoreU(v, d, target);
    }
  }
}

template <int kVectors, class D>
HWY_INLINE void prefetch_row(D d, const float* row) {
  hwy::Prefetch(row);
  if (kVectors * hn::MaxLanes(d) > 16) hwy::Prefetch(row + kVectors * hn::MaxLanes(d) - 1);
}

// For loops at least this long, C is prefetched one row at a time. Prefetching it all at once would
// delay A and B.
constexpr int64_t kLongLoop = 128;

template <int kRows, int kVectors, bool kByRows>
void tile(int64_t k, const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
          int64_t b_stride, const Scale& s, float* c, int64_t ldc) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  V sum[kRows][kVectors];
  const int64_t a_step = kByRows ? 1 : a_stride;
  multiply_add<kByRows, true>(a, a_stride, b, sum);
  --k;
  if (k < kLongLoop) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) prefetch_row<kVectors>(d, c + i * ldc);
  } else {
    const float* row = c;
    const int64_t each = k / kRows;
    for (int left = kRows; left > 0; --left, row += ldc) {
      prefetch_row<kVectors>(d, row);
      k -= each;
      for (int64_t p = each; p > 0; --p)
        multiply_add<kByRows, false>(a += a_step, a_stride, b += b_stride, sum);
    }
  }
  for (; k > 0; --k) multiply_add<kByRows, false>(a += a_step, a_stride, b += b_stride, sum);
  keep_out_of_loop(c, ldc);
  if (s.alpha == 1 && s.beta == 0)
    store_tile<false, false>(sum, s, c, ldc);
  else if (s.alpha == 1)
    store_tile<false, true>(sum, s, c, ldc);
  else if (s.beta == 0)
    store_tile<true, false>(sum, s, c, ldc);
  else
    store_tile<true, true>(sum, s, c, ldc);
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
