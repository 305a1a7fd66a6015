// SPDX-License-Identifier: MIT
#include "matrix/conv/depthwise_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/conv/depthwise_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

/// Copies `count` floats; up to a vector less one behind them is overwritten.
HWY_INLINE void copy_over(const float* from, int64_t count, float* to) {
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
  if (j < count) hn::StoreU(load_part(d, from + j, count - j), d, to + j);
}

HWY_INLINE void zero_over(int64_t count, float* to) {
  for (int64_t j = 0; j < count; j += kLanes) hn::StoreU(hn::Zero(d), d, to + j);
}

/// Columns of one residue of a row, padding included.
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

/// Both residues of a row at once.
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

void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out) {
  const PackedAxis &rows = plane.rows, &columns = plane.columns;
  const int64_t part = plane.part();
  for (int64_t residue = 0; residue < rows.stride; ++residue, out += columns.stride * part) {
    for (int64_t i = 0; i < rows.length; ++i) {
      const int64_t row = rows.low + residue + i * rows.stride;
      const bool inside = row >= 0 && row < rows.in;
      const float* from = x + row * columns.in;
      float* to = out + i * columns.length;
      if (inside && columns.stride == 2) {
        pack_pairs(columns, from, scratch, to, to + part);
        continue;
      }
      for (int64_t c = 0; c < columns.stride; ++c)
        if (inside)
          pack_columns(columns, c, from, to + c * part);
        else
          zero_over(columns.length, to + c * part);
    }
    for (int64_t c = 0; c < columns.stride; ++c)
      zero_over(kLanes, out + c * part + rows.length * columns.length);
  }
}

template <int kVectors>
HWY_INLINE void correlate_vectors(std::span<const int64_t> offsets, const float* weights,
                                  const float* in, float bias, float* out) {
  V acc[kVectors];
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) acc[i] = hn::Set(d, bias);
  for (size_t t = 0; t < offsets.size(); ++t) {
    const V w = hn::Set(d, weights[t]);
    const float* from = in + offsets[t];
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i)
      acc[i] = hn::MulAdd(w, hn::LoadU(d, from + i * kLanes), acc[i]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) hn::StoreU(acc[i], d, out + i * kLanes);
}

void correlate_run(int64_t count, std::span<const int64_t> offsets, const float* weights,
                   const float* in, float bias, float* out) {
  int64_t q = 0;
  for (; q + 3 * kLanes < count; q += 4 * kLanes)
    correlate_vectors<4>(offsets, weights, in + q, bias, out + q);
  for (; q < count; q += kLanes) correlate_vectors<1>(offsets, weights, in + q, bias, out + q);
}

template <int kTaps>
void sum_taps(int64_t count, const int64_t* offsets, const float* dy, const float* in,
              float* sums) {
  V acc[kTaps];
  const float* from[kTaps];
  HWY_UNROLL(16)
  for (int t = 0; t < kTaps; ++t) {
    acc[t] = hn::LoadU(d, sums + t * kRunLanes);
    from[t] = in + offsets[t];
  }
  for (int64_t q = 0; q < count; q += kLanes) {
    const V g = hn::LoadU(d, dy + q);
    HWY_UNROLL(16)
    for (int t = 0; t < kTaps; ++t) acc[t] = hn::MulAdd(g, hn::LoadU(d, from[t] + q), acc[t]);
  }
  HWY_UNROLL(16)
  for (int t = 0; t < kTaps; ++t) hn::StoreU(acc[t], d, sums + t * kRunLanes);
}

void sum_run(int64_t count, std::span<const int64_t> offsets, const float* dy, const float* in,
             float* sums) {
  const auto taps = static_cast<int64_t>(offsets.size());
  int64_t t = 0;
  for (; t + 9 <= taps; t += 9)
    sum_taps<9>(count, offsets.data() + t, dy, in, sums + t * kRunLanes);
  for (; t + 3 <= taps; t += 3)
    sum_taps<3>(count, offsets.data() + t, dy, in, sums + t * kRunLanes);
  for (; t < taps; ++t) sum_taps<1>(count, offsets.data() + t, dy, in, sums + t * kRunLanes);
}

void widen_rows(int64_t rows, int64_t width, const float* y, int64_t pitch, float* run) {
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

PackedAxis::PackedAxis(std::span<const Taps> taps) {
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
}

int64_t PackedPlane::offset(int64_t row, int64_t column) const {
  row -= rows.low, column -= columns.low;
  const int64_t residue = row % rows.stride * columns.stride + column % columns.stride;
  return residue * part() + row / rows.stride * pitch() + column / columns.stride;
}

void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(pack_plane)(plane, x, scratch, out);
}
void correlate_run(int64_t count, std::span<const int64_t> offsets, const float* weights,
                   const float* in, float bias, float* out) {
  HWY_DYNAMIC_DISPATCH(correlate_run)(count, offsets, weights, in, bias, out);
}
void sum_run(int64_t count, std::span<const int64_t> offsets, const float* dy, const float* in,
             float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_run)(count, offsets, dy, in, sums);
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
