// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/gemv.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/gemv.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on
#include "matrix/backend/cpu/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;
constexpr int64_t kLanes = hn::MaxLanes(F32());
constexpr int64_t kChain = 256;  // f32 sums: a longer chain would lose digits

template <int kRows>
HWY_INLINE void dots_of(int64_t k, const float* a, int64_t lda, const float* x, float* y) {
  const F32 d;
  VF32 sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = hn::Zero(d);
  int64_t p = 0;
  while (p + kLanes <= k) {
    VF32 part[kRows];
    for (int r = 0; r < kRows; ++r) part[r] = hn::Zero(d);
    const int64_t end = std::min(k, p + kChain * kLanes);
    for (; p + kLanes <= end; p += kLanes) {
      const VF32 right = hn::LoadU(d, x + p);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
        part[r] = hn::MulAdd(hn::LoadU(d, a + r * lda + p), right, part[r]);
    }
    for (int r = 0; r < kRows; ++r) sum[r] = hn::Add(sum[r], part[r]);
  }
  if (p < k) {
    const VF32 right = load_part(d, x + p, k - p);
    for (int r = 0; r < kRows; ++r)
      sum[r] = hn::MulAdd(load_part(d, a + r * lda + p, k - p), right, sum[r]);
  }
  for (int r = 0; r < kRows; ++r) y[r] = hn::GetLane(hn::SumOfLanes(d, sum[r]));
}

void dots(int64_t rows, int64_t k, const float* a, int64_t lda, const float* x, float* y) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) dots_of<4>(k, a + i * lda, lda, x, y + i);
  for (; i < rows; ++i) dots_of<1>(k, a + i * lda, lda, x, y + i);
}

/// The columns of kVectors vectors. `last` is the number of columns in the last vector.
template <int kVectors>
HWY_INLINE void sums_of(int64_t k, const float* b, int64_t ldb, const float* x, int64_t last,
                        float* y) {
  const F32 d;
  VF32 total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = hn::Zero(d);
  for (int64_t begin = 0; begin < k; begin += kChain) {
    VF32 sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
    for (int64_t p = begin; p < std::min(k, begin + kChain); ++p) {
      const VF32 factor = hn::Set(d, x[p]);
      const float* row = b + p * ldb;
#pragma GCC unroll 4
      for (int v = 0; v + 1 < kVectors; ++v)
        sum[v] = hn::MulAdd(hn::LoadU(d, row + v * kLanes), factor, sum[v]);
      const float* end = row + (kVectors - 1) * kLanes;
      sum[kVectors - 1] = hn::MulAdd(last == kLanes ? hn::LoadU(d, end) : load_part(d, end, last),
                                     factor, sum[kVectors - 1]);
    }
    for (int v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], sum[v]);
  }
  for (int v = 0; v + 1 < kVectors; ++v) hn::StoreU(total[v], d, y + v * kLanes);
  store_part(d, total[kVectors - 1], y + (kVectors - 1) * kLanes, last);
}

void sums(int64_t columns, int64_t k, const float* b, int64_t ldb, const float* x, float* y) {
  for (int64_t j = 0; j < columns; j += 4 * kLanes) {
    const int64_t left = std::min(columns - j, 4 * kLanes), vectors = (left + kLanes - 1) / kLanes;
    const int64_t last = left - (vectors - 1) * kLanes;
    if (vectors == 4) sums_of<4>(k, b + j, ldb, x, last, y + j);
    if (vectors == 3) sums_of<3>(k, b + j, ldb, x, last, y + j);
    if (vectors == 2) sums_of<2>(k, b + j, ldb, x, last, y + j);
    if (vectors == 1) sums_of<1>(k, b + j, ldb, x, last, y + j);
  }
}

GemvKernels make_gemv() { return {dots, sums}; }

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(make_gemv);

const GemvKernels& gemv_kernels() {
  static const GemvKernels all = HWY_DYNAMIC_DISPATCH(make_gemv)();
  return all;
}

}  // namespace kaiseki::cpu
#endif
