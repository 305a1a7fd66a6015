// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/depthwise_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/depthwise_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

/// Copies `count` floats. Overwrites up to one vector, less one float, after them.
HWY_INLINE void copy_over(const float* from, int64_t count, float* to) {
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
  if (j < count) hn::StoreU(load_part(d, from + j, count - j), d, to + j);
}

HWY_INLINE void zero_over(int64_t count, float* to) {
  for (int64_t j = 0; j < count; j += kLanes) hn::StoreU(hn::Zero(d), d, to + j);
}

/// Packs the columns of one residue of a row, with padding.
void pack_columns(const PackedAxis& axis, int64_t residue, const float* from, float* to) {
  const int64_t origin = axis.low + residue, step = axis.stride;
  const int64_t begin =
      std::clamp<int64_t>(origin >= 0 ? 0 : (-origin + step - 1) / step, 0, axis.length);
  const int64_t end = std::clamp<int64_t>((axis.in - origin + step - 1) / step, begin, axis.length);
  zero_over(begin, to);
  if (step == 1)
    copy_over(from + origin + begin, end - begin, to + begin);
  else
    for (int64_t j = begin; j < end; ++j) to[j] = from[origin + j * step];
  zero_over(axis.length - end, to + end);
}

/// Packs both residues of a row.
void pack_pairs(const PackedAxis& axis, const float* from, float* scratch, float* even,
                float* odd) {
  const int64_t begin = std::clamp<int64_t>(-axis.low, 0, 2 * axis.length);
  const int64_t end = std::clamp<int64_t>(axis.in - axis.low, begin, 2 * axis.length);
  zero_over(begin, scratch);
  copy_over(from + axis.low + begin, end - begin, scratch + begin);
  zero_over(2 * axis.length - end, scratch + end);
  for (int64_t j = 0; j < axis.length; j += kLanes) {
    V low, high;
    hn::LoadInterleaved2(d, scratch + 2 * j, low, high);
    hn::StoreU(low, d, even + j);
    hn::StoreU(high, d, odd + j);
  }
}

#if HWY_TARGET == HWY_SCALAR
inline void load_pairs(const float* from, int64_t count, V& even, V& odd) {
  even = hn::Load(d, from);
  odd = count > 1 ? hn::Load(d, from + 1) : hn::Zero(d);
}
#else
inline void load_pairs(const float* from, int64_t count, V& even, V& odd) {
  const V low = count >= kLanes ? hn::LoadU(d, from) : load_part(d, from, count);
  const V high = count >= 2 * kLanes ? hn::LoadU(d, from + kLanes)
                 : count > kLanes    ? load_part(d, from + kLanes, count - kLanes)
                                     : hn::Zero(d);
  even = hn::ConcatEven(d, high, low);
  odd = hn::ConcatOdd(d, high, low);
}
#endif

/// Packs a row of a tight plane for stride 2.
void split_pairs(int64_t length, const float* from, float* even, float* odd) {
  for (int64_t j = 0; j < length; j += kLanes) {
    V low, high;
    load_pairs(from + 2 * j, 2 * (length - j), low, high);
    hn::StoreU(low, d, even + j);
    hn::StoreU(high, d, odd + j);
  }
}

void pack_row(const PackedPlane& plane, const float* from, float* scratch, float* to) {
  const PackedAxis& columns = plane.columns;
  const int64_t part = plane.part();
  if (columns.stride == 2 && columns.tight)
    split_pairs(columns.length, from, to, to + part);
  else if (columns.stride == 2)
    pack_pairs(columns, from, scratch, to, to + part);
  else
    for (int64_t c = 0; c < columns.stride; ++c) pack_columns(columns, c, from, to + c * part);
}

void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out) {
  const PackedAxis &rows = plane.rows, &columns = plane.columns;
  const int64_t part = plane.part(), width = columns.length;
  for (int64_t residue = 0; residue < rows.stride; ++residue, out += columns.stride * part) {
    const int64_t origin = rows.low + residue, step = rows.stride;
    const int64_t begin =
        std::clamp<int64_t>(origin >= 0 ? 0 : (-origin + step - 1) / step, 0, rows.length);
    const int64_t end =
        std::clamp<int64_t>((rows.in - origin + step - 1) / step, begin, rows.length);
    float* first = out + plane.lead();
    for (int64_t c = 0; c < columns.stride; ++c)
      zero_over(plane.lead() + begin * width, out + c * part);
    if (step == 1 && columns.stride == 1 && columns.tight)
      copy_over(x + (origin + begin) * columns.in, (end - begin) * width, first + begin * width);
    else
      for (int64_t i = begin; i < end; ++i)
        pack_row(plane, x + (origin + i * step) * columns.in, scratch, first + i * width);
    for (int64_t c = 0; c < columns.stride; ++c)
      zero_over((rows.length - end) * width + plane.lead() + kLanes,
                first + c * part + end * width);
  }
}

/// Adds whole vectors of in[offset + q] times their weights to acc.
template <int kVectors>
HWY_INLINE void add_taps(int64_t taps, const int64_t* offsets, const float* weights,
                         const float* in, V* acc) {
  for (int64_t t = 0; t < taps; ++t) {
    const V w = hn::Set(d, weights[t]);
    const float* from = in + offsets[t];
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i)
      acc[i] = hn::MulAdd(w, hn::LoadU(d, from + i * kLanes), acc[i]);
  }
}

template <int kVectors>
HWY_INLINE void correlate_vectors(int64_t q, const RunTaps& taps, const float* weights,
                                  const float* in, float bias, float* out) {
  const hn::RebindToUnsigned<D> du;
  V total[kVectors];
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) total[i] = hn::Set(d, bias);
  const int64_t* offsets = taps.offsets.data();
  if (taps.masks.empty())
    add_taps<kVectors>(static_cast<int64_t>(taps.offsets.size()), offsets, weights, in + q, total);
  for (const auto& mask : taps.masks) {
    V acc[kVectors];
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) acc[i] = hn::Zero(d);
    add_taps<kVectors>(taps.rows, offsets, weights, in + q, acc);
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) {
      const V bits = hn::BitCast(d, hn::LoadU(du, mask.data() + q + i * kLanes));
      total[i] = hn::Add(total[i], hn::And(acc[i], bits));
    }
    offsets += taps.rows, weights += taps.rows;
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) hn::StoreU(total[i], d, out + i * kLanes);
}

/// Three masked columns of three taps. The weights stay in registers.
void correlate_three(int64_t count, const RunTaps& taps, const float* weights, const float* in,
                     float bias, float* out) {
  const hn::RebindToUnsigned<D> du;
  V w[9];
  const float* from[9];
  HWY_UNROLL(9)
  for (int t = 0; t < 9; ++t) w[t] = hn::Set(d, weights[t]), from[t] = in + taps.offsets[t];
  const V first = hn::Set(d, bias);
  const uint32_t* bits[3] = {taps.masks[0].data(), taps.masks[1].data(), taps.masks[2].data()};
  for (int64_t q = 0; q < count; q += kLanes) {
    V total = first;
    HWY_UNROLL(3)
    for (int c = 0; c < 3; ++c) {
      V acc = hn::Mul(w[3 * c], hn::LoadU(d, from[3 * c] + q));
      acc = hn::MulAdd(w[3 * c + 1], hn::LoadU(d, from[3 * c + 1] + q), acc);
      acc = hn::MulAdd(w[3 * c + 2], hn::LoadU(d, from[3 * c + 2] + q), acc);
      total = hn::Add(total, hn::And(acc, hn::BitCast(d, hn::LoadU(du, bits[c] + q))));
    }
    hn::StoreU(total, d, out + q);
  }
}

void correlate_run(int64_t count, const RunTaps& taps, const float* weights, const float* in,
                   float bias, float* out) {
  if (kManyRegisters && taps.masks.size() == 3 && taps.rows == 3)
    return correlate_three(count, taps, weights, in, bias, out);
  int64_t q = 0;
  for (; q + 3 * kLanes < count; q += 4 * kLanes)
    correlate_vectors<4>(q, taps, weights, in, bias, out + q);
  for (; q < count; q += kLanes) correlate_vectors<1>(q, taps, weights, in, bias, out + q);
}

/// The sums of kColumns columns of kTaps taps. Each column has a mask.
template <int kColumns, int kTaps, bool kMasked>
void sum_taps(int64_t count, const int64_t* offsets, const std::vector<uint32_t>* masks,
              const float* dy, const float* in, float* sums) {
  const hn::RebindToUnsigned<D> du;
  V acc[kColumns][kTaps];
  const float* from[kColumns][kTaps];
  HWY_UNROLL(16)
  for (int c = 0; c < kColumns; ++c) {
    HWY_UNROLL(16)
    for (int t = 0; t < kTaps; ++t) {
      acc[c][t] = hn::LoadU(d, sums + (c * kTaps + t) * kRunLanes);
      from[c][t] = in + offsets[c * kTaps + t];
    }
  }
  for (int64_t q = 0; q < count; q += kLanes) {
    const V y = hn::LoadU(d, dy + q);
    HWY_UNROLL(16)
    for (int c = 0; c < kColumns; ++c) {
      V g = y;
      if constexpr (kMasked) g = hn::And(y, hn::BitCast(d, hn::LoadU(du, masks[c].data() + q)));
      HWY_UNROLL(16)
      for (int t = 0; t < kTaps; ++t)
        acc[c][t] = hn::MulAdd(g, hn::LoadU(d, from[c][t] + q), acc[c][t]);
    }
  }
  HWY_UNROLL(16)
  for (int c = 0; c < kColumns; ++c) {
    HWY_UNROLL(16)
    for (int t = 0; t < kTaps; ++t) hn::StoreU(acc[c][t], d, sums + (c * kTaps + t) * kRunLanes);
  }
}

template <bool kMasked>
void sum_column(int64_t count, int64_t taps, const int64_t* offsets,
                const std::vector<uint32_t>* mask, const float* dy, const float* in, float* sums) {
  int64_t t = 0;
  for (; t + 9 <= taps; t += 9)
    sum_taps<1, 9, kMasked>(count, offsets + t, mask, dy, in, sums + t * kRunLanes);
  for (; t + 3 <= taps; t += 3)
    sum_taps<1, 3, kMasked>(count, offsets + t, mask, dy, in, sums + t * kRunLanes);
  for (; t < taps; ++t)
    sum_taps<1, 1, kMasked>(count, offsets + t, mask, dy, in, sums + t * kRunLanes);
}

void sum_run(int64_t count, const RunTaps& taps, const float* dy, const float* in, float* sums) {
  const int64_t* offsets = taps.offsets.data();
  if (taps.masks.empty())
    return sum_column<false>(count, static_cast<int64_t>(taps.offsets.size()), offsets, nullptr, dy,
                             in, sums);
  if (taps.masks.size() == 3 && taps.rows == 3)
    return sum_taps<3, 3, true>(count, offsets, taps.masks.data(), dy, in, sums);
  for (const auto& mask : taps.masks) {
    sum_column<true>(count, taps.rows, offsets, &mask, dy, in, sums);
    offsets += taps.rows, sums += taps.rows * kRunLanes;
  }
}

void widen_rows(int64_t rows, int64_t width, const float* y, int64_t pitch, float* run) {
  if (pitch == width) width *= rows, pitch *= rows, rows = 1;
  for (int64_t i = 0; i < rows; ++i, y += width, run += pitch) {
    copy_over(y, width, run);
    zero_over(pitch - width, run + width);
  }
  zero_over(kLanes, run - pitch + width);
}

void narrow_rows(int64_t rows, int64_t width, const float* run, int64_t pitch,
                 Activation activation, float slope, float* y, int64_t y_pitch) {
  for (int64_t i = 0; i < rows; ++i, run += pitch, y += y_pitch)
    for (int64_t j = 0; j < width; j += kLanes) {
      const V v = activate(d, hn::LoadU(d, run + j), activation, slope);
      if (j + kLanes <= width)
        hn::StoreU(v, d, y + j);
      else
        store_part(d, v, y + j, width - j);
    }
}

void narrow_pairs(int64_t rows, int64_t width, const float* even, const float* odd, int64_t pitch,
                  float* y, int64_t y_pitch) {
  HWY_ALIGN float rest[2 * kLanes];
  for (int64_t i = 0; i < rows; ++i, even += pitch, odd += pitch, y += y_pitch)
    for (int64_t j = 0; j < width; j += 2 * kLanes) {
      const V low = hn::LoadU(d, even + j / 2), high = hn::LoadU(d, odd + j / 2);
      const int64_t count = std::min(2 * kLanes, width - j);
      hn::StoreInterleaved2(low, high, d, count == 2 * kLanes ? y + j : rest);
      if (count == 2 * kLanes) continue;
      if (count >= kLanes) hn::StoreU(hn::Load(d, rest), d, y + j);
      const int64_t done = count / kLanes * kLanes;
      if (done < count) store_part(d, hn::Load(d, rest + done), y + j + done, count - done);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(pack_plane);
HWY_EXPORT(correlate_run);
HWY_EXPORT(sum_run);
HWY_EXPORT(widen_rows);
HWY_EXPORT(narrow_rows);
HWY_EXPORT(narrow_pairs);

PackedAxis::PackedAxis(std::span<const Taps> taps, bool may_be_tight) {
  int64_t high = 0, out = 0;
  bool any = false;
  for (const Taps& one : taps) {
    in = one.in, stride = one.stride, out = std::max(out, one.out);
    for (int64_t offset : one.offsets) {
      low = any ? std::min(low, offset) : offset;
      high = any ? std::max(high, offset) : offset;
      any = true;
    }
  }
  length = (high - low + (out - 1) * stride) / stride + 1;
  tight = may_be_tight && in == stride * out;
  if (tight) low = 0, length = out;
}

int64_t PackedPlane::offset(int64_t row, int64_t column) const {
  row -= rows.low, column -= columns.low;
  const int64_t shift =
      column >= 0 ? column / columns.stride : -((columns.stride - 1 - column) / columns.stride);
  const int64_t residue = row % rows.stride * columns.stride + column - shift * columns.stride;
  return residue * part() + lead() + row / rows.stride * pitch() + shift;
}

void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(pack_plane)(plane, x, scratch, out);
}
void correlate_run(int64_t count, const RunTaps& taps, const float* weights, const float* in,
                   float bias, float* out) {
  HWY_DYNAMIC_DISPATCH(correlate_run)(count, taps, weights, in, bias, out);
}
void sum_run(int64_t count, const RunTaps& taps, const float* dy, const float* in, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_run)(count, taps, dy, in, sums);
}
void widen_rows(int64_t rows, int64_t width, const float* y, int64_t pitch, float* run) {
  HWY_DYNAMIC_DISPATCH(widen_rows)(rows, width, y, pitch, run);
}
void narrow_rows(int64_t rows, int64_t width, const float* run, int64_t pitch,
                 Activation activation, float slope, float* y, int64_t y_pitch) {
  HWY_DYNAMIC_DISPATCH(narrow_rows)(rows, width, run, pitch, activation, slope, y, y_pitch);
}
void narrow_pairs(int64_t rows, int64_t width, const float* even, const float* odd, int64_t pitch,
                  float* y, int64_t y_pitch) {
  HWY_DYNAMIC_DISPATCH(narrow_pairs)(rows, width, even, odd, pitch, y, y_pitch);
}
}  // namespace kaiseki::conv
#endif
