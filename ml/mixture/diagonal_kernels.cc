// SPDX-License-Identifier: MIT
#include "ml/mixture/diagonal_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ml/mixture/diagonal_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::ml::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;
constexpr int64_t kLanes = hn::MaxLanes(F32());
constexpr int64_t kBlockRows = DiagonalKernels::kRows;
constexpr int64_t kVectors = kBlockRows / kLanes < 8 ? kBlockRows / kLanes : 8;  // in registers

void squares(int64_t features, const float* block, const float* means, const float* factors,
             float* out) {
  const F32 d;
  for (int64_t i = 0; i < kBlockRows; i += kVectors * kLanes) {
    VF32 sum[kVectors];
    for (int64_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
    for (int64_t j = 0; j < features; ++j) {
      const VF32 mean = hn::Set(d, means[j]), factor = hn::Set(d, factors[j]);
      const float* column = block + j * kBlockRows + i;
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) {
        const VF32 standard = hn::Mul(hn::Sub(hn::LoadU(d, column + v * kLanes), mean), factor);
        sum[v] = hn::MulAdd(standard, standard, sum[v]);
      }
    }
    for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, out + i + v * kLanes);
  }
}

void add_moments(int64_t features, const float* block, const float* weights, const float* means,
                 double* first, double* second) {
  const F32 d;
  for (int64_t j = 0; j < features; ++j) {
    const VF32 mean = hn::Set(d, means[j]);
    const float* column = block + j * kBlockRows;
    VF32 one[2] = {hn::Zero(d), hn::Zero(d)}, two[2] = {hn::Zero(d), hn::Zero(d)};
    for (int64_t i = 0; i < kBlockRows; i += 2 * kLanes)
      for (int64_t v = 0; v < 2; ++v) {
        const int64_t at = i + v * kLanes;
        const VF32 difference = hn::Sub(hn::LoadU(d, column + at), mean);
        const VF32 weighted = hn::Mul(hn::LoadU(d, weights + at), difference);
        one[v] = hn::Add(one[v], weighted);
        two[v] = hn::MulAdd(weighted, difference, two[v]);
      }
    first[j] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(one[0], one[1]))));
    second[j] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(two[0], two[1]))));
  }
}

DiagonalKernels make_diagonal() { return {squares, add_moments}; }

}  // namespace kaiseki::ml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::ml {

HWY_EXPORT(make_diagonal);

const DiagonalKernels& diagonal_kernels() {
  static const DiagonalKernels all = HWY_DYNAMIC_DISPATCH(make_diagonal)();
  return all;
}

}  // namespace kaiseki::ml
#endif
