// SPDX-License-Identifier: MIT
// The gradient of a filter: sums over pixels, one for each filter tap.
#include <algorithm>

#include "matrix/backend/cpu/conv/packed_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/packed_correlate.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
inline V add_pairs(V, V low) { return low; }
#else
inline V add_pairs(V high, V low) {
  return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
}
#endif

/// Afterwards v[i] holds the sums of the lanes of v[i * kLanes] and the vectors after it, one per
/// lane.
template <int kCount>
inline void sum_lanes(V* v) {
  int count = kCount;
  for (int64_t lanes = kLanes; lanes > 1; lanes /= 2) {
    if (count % 2) v[count++] = hn::Zero(d);
    count /= 2;
    for (int i = 0; i < count; ++i) v[i] = add_pairs(v[2 * i + 1], v[2 * i]);
  }
}

template <int kRows, int kTaps>
void correlate_tile(const CorrelateArgs& t, int64_t row, int64_t tap) {
  V acc[kRows][kTaps];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (int j = 0; j < kTaps; ++j) acc[i][j] = hn::Zero(d);
  }
  const int64_t rows = std::min<int64_t>(kRows, t.m - row);
  const int64_t taps = std::min<int64_t>(kTaps, t.taps - tap);
  const int64_t whole = t.pixels / kLanes * kLanes, rest = t.pixels - whole;
  const float *y[kRows], *b[kTaps];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) y[i] = t.y + (row + std::min<int64_t>(i, rows - 1)) * t.ldy;
  HWY_UNROLL(16)
  for (int j = 0; j < kTaps; ++j) b[j] = t.b + t.offsets[tap + std::min<int64_t>(j, taps - 1)];
  for (int64_t unit = 0; unit < t.units; ++unit) {
    for (int64_t p = 0; p < whole; p += kLanes) {
      V left[kRows];
      HWY_UNROLL(16)
      for (int i = 0; i < kRows; ++i) left[i] = hn::LoadU(d, y[i] + p);
      HWY_UNROLL(16)
      for (int j = 0; j < kTaps; ++j) {
        const V right = hn::LoadU(d, b[j] + p);
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) acc[i][j] = hn::MulAdd(left[i], right, acc[i][j]);
      }
    }
    if (rest) {
      V left[kRows];
      HWY_UNROLL(16)
      for (int i = 0; i < kRows; ++i) left[i] = load_part(d, y[i] + whole, rest);
      HWY_UNROLL(16)
      for (int j = 0; j < kTaps; ++j) {
        const V right = load_part(d, b[j] + whole, rest);
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) acc[i][j] = hn::MulAdd(left[i], right, acc[i][j]);
      }
    }
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) y[i] += t.y_unit;
    HWY_UNROLL(16)
    for (int j = 0; j < kTaps; ++j) b[j] += t.b_unit_stride;
  }
  constexpr int kCount = kRows * kTaps;
  V all[kCount + kLanes];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kTaps; ++j) all[i * kTaps + j] = acc[i][j];
  sum_lanes<kCount>(all);
  HWY_ALIGN float sums[kCount + kLanes];
  for (int i = 0; i * kLanes < kCount; ++i) hn::StoreU(all[i], d, sums + i * kLanes);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < taps; ++j)
      t.out[(row + i) * t.ldo + t.positions[tap + j]] += sums[i * kTaps + j];
}

template <int kRows, int kTaps>
void correlate_all(const CorrelateArgs& t) {
  for (int64_t row = 0; row < t.m; row += kRows)
    for (int64_t tap = 0; tap < t.taps; tap += kTaps) correlate_tile<kRows, kTaps>(t, row, tap);
}

void correlate(const CorrelateArgs& t) {
  if (t.m == 1)
    correlate_all<1, 8>(t);
  else if (!kManyRegisters)
    correlate_all<3, 4>(t);
  else if (t.m % 5 != 0 && t.m % 4 == 0)
    correlate_all<4, 6>(t);
  else
    correlate_all<5, 5>(t);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(correlate);

void correlate(const CorrelateArgs& args) { HWY_DYNAMIC_DISPATCH(correlate)(args); }
}  // namespace kaiseki::conv
#endif
