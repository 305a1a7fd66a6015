// SPDX-License-Identifier: MIT
#include "matrix/conv/packed_kernels.h"

#include <algorithm>

#include "matrix/backend/cpu/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/conv/packed_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D d;
constexpr int64_t kLanes = HWY_LANES(float);
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;

/// The first `count` values of a vector, and zeros; nothing beyond them is touched.
inline V load_part(const float* from, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#else
  HWY_ALIGN float part[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) part[i] = from[i];
  return hn::Load(d, part);
#endif
}

inline void store_part(V v, float* to, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN float part[kLanes];
  hn::Store(v, d, part);
  for (int64_t i = 0; i < count; ++i) to[i] = part[i];
#endif
}

void pack_planes(const PackArgs& p) {
  const int64_t low = *std::min_element(p.columns, p.columns + p.column_taps);
  const int64_t high = *std::max_element(p.columns, p.columns + p.column_taps);
  const int64_t span = high - low + (p.out_w - 1) * p.column_stride + 1;
  const int64_t begin = std::clamp<int64_t>(-low, 0, span);
  const int64_t end = std::clamp<int64_t>(p.in_w - low, begin, span);
  const V zero = hn::Zero(d);
  for (int64_t c = 0; c < p.channels; ++c) {
    const float* plane = p.x + c * p.in_h * p.in_w;
    float* row = p.padded;
    for (int64_t i = 0; i < p.row_count; ++i, row += span) {
      const int64_t y = p.rows[i] + p.first_row;
      const bool inside = y >= 0 && y < p.in_h && begin < end;
      for (int64_t j = 0; j < (inside ? begin : span); j += kLanes) hn::StoreU(zero, d, row + j);
      if (!inside) continue;
      const float* from = plane + y * p.in_w + low;
      int64_t j = begin;
      for (; j + kLanes <= end; j += kLanes) hn::StoreU(hn::LoadU(d, from + j), d, row + j);
      if (j < end) hn::StoreU(load_part(from + j, end - j), d, row + j), j += kLanes;
      for (; j < span; j += kLanes) hn::StoreU(zero, d, row + j);
    }
    for (int64_t s = 0; s < p.column_taps; ++s) {
      float* out = p.out + (c * p.column_taps + s) * p.row_count * p.out_w;
      const float* from = p.padded + (p.columns[s] - low);
      for (int64_t i = 0; i < p.row_count; ++i, from += span, out += p.out_w) {
        if (p.column_stride == 1)
          for (int64_t j = 0; j < p.out_w; j += kLanes)
            hn::StoreU(hn::LoadU(d, from + j), d, out + j);
        else
          for (int64_t j = 0; j < p.out_w; ++j) out[j] = from[j * p.column_stride];
      }
    }
  }
}

/// Adds to row `to` what the rows of all column taps, `plane` floats apart, hold for it.
void unpack_row(const UnpackArgs& p, const float* from, int64_t plane, bool fresh, float* to) {
  const hn::RebindToSigned<D> di;
  const auto lanes = hn::Iota(di, 0), width = hn::Set(di, static_cast<int32_t>(p.out_w));
  for (int64_t j = 0; j < p.in_w; j += kLanes) {
    const int64_t count = std::min(kLanes, p.in_w - j);
    V sum = hn::Zero(d);
    if (!fresh) sum = count == kLanes ? hn::LoadU(d, to + j) : load_part(to + j, count);
    for (int64_t s = 0; s < p.column_taps; ++s) {
      const int64_t first = j - p.columns[s];
      if (first <= -kLanes || first >= p.out_w) continue;
      const auto place = hn::Add(lanes, hn::Set(di, static_cast<int32_t>(first)));
      const auto inside = hn::And(hn::Gt(place, hn::Set(di, -1)), hn::Lt(place, width));
      sum = hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(d, inside),
                                            hn::LoadU(d, from + s * plane + first)));
    }
    if (count == kLanes)
      hn::StoreU(sum, d, to + j);
    else
      store_part(sum, to + j, count);
  }
}

void unpack_row_strided(const UnpackArgs& p, const float* from, int64_t plane, float* to) {
  for (int64_t s = 0; s < p.column_taps; ++s) {
    const int64_t origin = p.columns[s], step = p.column_stride;
    const int64_t begin = origin >= 0 ? 0 : (-origin + step - 1) / step;
    const int64_t end = std::min(p.out_w, (p.in_w - origin + step - 1) / step);
    for (int64_t j = begin; j < end; ++j) to[origin + j * step] += from[s * plane + j];
  }
}

void unpack_planes(const UnpackArgs& p) {
  const int64_t plane = p.row_count * p.out_w;
  for (int64_t c = 0; c < p.channels; ++c)
    for (int64_t i = 0; i < p.row_count; ++i) {
      const int64_t y = p.rows[i] + p.first_row;
      if (y < 0 || y >= p.in_h) continue;
      const float* from = p.packed + c * p.column_taps * plane + i * p.out_w;
      float* to = p.x + (c * p.in_h + y) * p.in_w;
      if (p.column_stride == 1)
        unpack_row(p, from, plane, y >= p.fresh, to);
      else
        unpack_row_strided(p, from, plane, to);
    }
}

inline V activate(V v, const MultiplyArgs& t) {
  switch (t.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
    case Activation::leaky_relu:
      return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Mul(v, hn::Set(d, t.slope)), v);
    default:
      break;
  }
  return v;
}

/// Adds a tile [rows][width] to its place, or writes it, with what else is asked for.
HWY_NOINLINE void store_tile(const MultiplyArgs& t, const float* tile, int64_t width, int64_t row,
                             int64_t pixel, int64_t rows) {
  for (int64_t i = row; i < std::min(t.m, row + rows); ++i, tile += width) {
    const V bias = hn::Set(d, t.finish && t.bias ? t.bias[i] : 0.0f);
    for (int64_t j = 0; j < std::min(width, t.pixels - pixel); j += kLanes) {
      float* to = t.c + (t.rows ? t.rows[i] : i * t.ldc) + pixel + j;
      const int64_t count = std::min(kLanes, t.pixels - pixel - j);
      V v = hn::Load(d, tile + j);
      if (t.accumulate) v = hn::Add(v, count == kLanes ? hn::LoadU(d, to) : load_part(to, count));
      if (t.finish) v = activate(hn::Add(v, bias), t);
      if (count == kLanes)
        hn::StoreU(v, d, to);
      else
        store_part(v, to, count);
    }
  }
}

template <int kRows, int kVectors>
void multiply_tile(const MultiplyArgs& t, const float* a, int64_t row, int64_t pixel) {
  V acc[kRows][kVectors];
  HWY_UNROLL(16)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) acc[i][j] = hn::Zero(d);
  }
  const float* b = t.b + pixel;
  for (int64_t k = 0; k < t.depth; ++k, a += kRows) {
    const float* from = b + t.offsets[k];
    V x[kVectors];
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) x[j] = hn::LoadU(d, from + j * kLanes);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      const V w = hn::Set(d, a[i]);
      HWY_UNROLL(2)
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
      HWY_UNROLL(2)
      for (int j = 0; j < kVectors; ++j) hn::Store(acc[i][j], d, tile + i * kWidth + j * kLanes);
    }
    return store_tile(t, tile, kWidth, row, pixel, kRows);
  }
  if (t.accumulate) {
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
      float* c = t.c + (t.rows ? t.rows[row + i] : (row + i) * t.ldc) + pixel;
      HWY_UNROLL(2)
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
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) {
      const V v = hn::Add(acc[i][j], hn::Set(d, bias[i]));
      hn::StoreU(relu ? hn::IfThenZeroElse(hn::Lt(v, zero), v) : v, d, c + j * kLanes);
    }
  }
}

template <int kRows>
void multiply_rows(const MultiplyArgs& t) {
  const int64_t blocks = (t.m + kRows - 1) / kRows;
  for (int64_t p = 0; p < t.pixels; p += 2 * kLanes)
    for (int64_t block = 0; block < blocks; ++block) {
      const float* a = t.a + block * kRows * t.depth;
      if (t.pixels - p > kLanes)
        multiply_tile<kRows, 2>(t, a, block * kRows, p);
      else
        multiply_tile<kRows, 1>(t, a, block * kRows, p);
    }
}

void multiply(const MultiplyArgs& t) {
  switch (t.block) {
    case 1:
      multiply_rows<1>(t);
      break;
    case 2:
      multiply_rows<2>(t);
      break;
    case 4:
      multiply_rows<4>(t);
      break;
    case 6:
      multiply_rows<6>(t);
      break;
    case 8:
      multiply_rows<8>(t);
      break;
    case 10:
      multiply_rows<10>(t);
      break;
    default:
      multiply_rows<13>(t);
      break;
  }
}

int64_t multiply_block(int64_t m) {
  int64_t best = 1, best_cost = INT64_MAX;
  for (int64_t block : {1, 2, 4, 6, 8, 10, 13}) {
    if (block > 6 && !kManyRegisters) break;
    const int64_t cost = (m + block - 1) / block * (block + 2);
    if (cost <= best_cost) best = block, best_cost = cost;
  }
  return best;
}

#if HWY_TARGET == HWY_SCALAR
inline V add_pairs(V, V low) { return low; }
#else
inline V add_pairs(V high, V low) {
  return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
}
#endif

/// Afterwards v[i] holds, in its lanes, the sums of the lanes of v[i * kLanes] and those that
/// follow.
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
      for (int i = 0; i < kRows; ++i) left[i] = load_part(y[i] + whole, rest);
      HWY_UNROLL(16)
      for (int j = 0; j < kTaps; ++j) {
        const V right = load_part(b[j] + whole, rest);
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) acc[i][j] = hn::MulAdd(left[i], right, acc[i][j]);
      }
    }
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) y[i] += t.y_unit;
    HWY_UNROLL(16)
    for (int j = 0; j < kTaps; ++j) b[j] += t.b_unit;
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
HWY_EXPORT(pack_planes);
HWY_EXPORT(unpack_planes);
HWY_EXPORT(multiply);
HWY_EXPORT(multiply_block);
HWY_EXPORT(correlate);

int64_t pack_scratch_floats(const PackArgs& p) {
  const auto [low, high] = std::minmax_element(p.columns, p.columns + p.column_taps);
  return p.row_count * (*high - *low + (p.out_w - 1) * p.column_stride + 1) + kPackSlack;
}

void pack_planes(const PackArgs& args) { HWY_DYNAMIC_DISPATCH(pack_planes)(args); }
void unpack_planes(const UnpackArgs& args) { HWY_DYNAMIC_DISPATCH(unpack_planes)(args); }
void multiply(const MultiplyArgs& args) {
  HWY_DYNAMIC_DISPATCH(multiply)(args);
  if (args.finish &&
      (args.activation == Activation::tanh || args.activation == Activation::sigmoid))
    cpu::gemm_kernels().finish({.activation = args.activation}, args.m, args.pixels, args.c,
                               args.ldc);
}
int64_t multiply_block(int64_t m) { return HWY_DYNAMIC_DISPATCH(multiply_block)(m); }
void correlate(const CorrelateArgs& args) { HWY_DYNAMIC_DISPATCH(correlate)(args); }
}  // namespace kaiseki::conv
#endif
