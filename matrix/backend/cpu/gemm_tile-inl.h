// SPDX-License-Identifier: MIT
// The register tile of a matrix product: rows of A broadcast against vectors of B.
#if defined(KAISEKI_GEMM_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_GEMM_TILE_INL_H
#undef KAISEKI_GEMM_TILE_INL_H
#else
#define KAISEKI_GEMM_TILE_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 32 vector registers hold 14 x 2 accumulators, two vectors of B and a broadcast; 16 hold 6 x 2.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kTileRows = 14;
#else
constexpr int kTileRows = 6;
#endif

template <int kRows, int kVectors, bool kByRows>
void tile(int64_t k, const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
          int64_t b_stride, float alpha, float beta, float* HWY_RESTRICT c, int64_t ldc) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kLanes = hn::MaxLanes(d);
  V sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    hwy::Prefetch(c + i * ldc);
    if (kVectors * kLanes > 16) hwy::Prefetch(c + i * ldc + kVectors * kLanes - 1);
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  for (; k > 0; --k) {
    V right[kVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) right[j] = hn::LoadU(d, b + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V left = hn::Set(d, kByRows ? a[i * a_stride] : a[i]);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(left, right[j], sum[i][j]);
    }
    a += kByRows ? 1 : a_stride;
    b += b_stride;
  }
  const V scale = hn::Set(d, alpha), keep = hn::Set(d, beta);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      float* target = c + i * ldc + j * kLanes;
      V v = hn::Mul(scale, sum[i][j]);
      if (beta != 0) v = hn::MulAdd(keep, hn::LoadU(d, target), v);
      hn::StoreU(v, d, target);
    }
  }
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
