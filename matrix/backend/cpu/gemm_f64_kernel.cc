// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/gemm_f64_kernel.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/gemm_f64_kernel.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many accumulators as the registers hold: 14 x 2 of 32, or 6 x 2 of 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kRows = 14;
#else
constexpr int kRows = 6;
#endif

#if HWY_HAVE_FLOAT64
using Tag = hn::ScalableTag<double>;
using Vec = hn::Vec<Tag>;
constexpr int kLanes = hn::MaxLanes(Tag());
constexpr int kColumns = 2 * kLanes;

template <int kTileRows>
void tile(int64_t k, const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, double alpha,
          double beta, double* c, int64_t ldc) {
  const Tag d;
  Vec sum[kTileRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (; k > 0; --k, a += kTileRows, b += kColumns) {
    const Vec b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const Vec left = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(left, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(left, b1, sum[i][1]);
    }
  }
  const Vec scale = hn::Set(d, alpha), keep = hn::Set(d, beta);
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i, c += ldc)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      Vec v = hn::Mul(scale, sum[i][j]);
      if (beta != 0) v = hn::MulAdd(keep, hn::LoadU(d, c + j * kLanes), v);
      hn::StoreU(v, d, c + j * kLanes);
    }
}
#else  // Highway has no vectors of doubles for this target
constexpr int kColumns = 4;

template <int kTileRows>
void tile(int64_t k, const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, double alpha,
          double beta, double* c, int64_t ldc) {
  double sum[kTileRows][kColumns] = {};
  for (; k > 0; --k, a += kTileRows, b += kColumns)
    for (int i = 0; i < kTileRows; ++i)
      for (int j = 0; j < kColumns; ++j) sum[i][j] += a[i] * b[j];
  for (int i = 0; i < kTileRows; ++i, c += ldc)
    for (int j = 0; j < kColumns; ++j)
      c[j] = beta == 0 ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[j];
}
#endif

template <int... kIndex>
void fill_tiles(GemmF64Kernels& kernels, std::integer_sequence<int, kIndex...>) {
  ((kernels.tile[kIndex] = tile<kIndex + 1>), ...);
}

GemmF64Kernels make_f64_kernels() {
  GemmF64Kernels kernels{};
  kernels.rows = kRows;
  kernels.columns = kColumns;
  fill_tiles(kernels, std::make_integer_sequence<int, kRows>());
  return kernels;
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(make_f64_kernels);

const GemmF64Kernels& gemm_f64_kernels() {
  static const GemmF64Kernels kernels = HWY_DYNAMIC_DISPATCH(make_f64_kernels)();
  return kernels;
}

}  // namespace kaiseki::cpu
#endif
