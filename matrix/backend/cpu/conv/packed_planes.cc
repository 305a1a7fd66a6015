// SPDX-License-Identifier: MIT
// Shifts and pads input planes for every column tap, and adds packed planes back.
#include <algorithm>

#include "matrix/backend/cpu/conv/packed_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/packed_planes.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

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
      if (j < end) hn::StoreU(load_part(d, from + j, end - j), d, row + j), j += kLanes;
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

/// Adds to row `to` its values from the rows of all column taps, which are `plane` floats apart.
void unpack_row(const UnpackArgs& p, const float* from, int64_t plane, bool fresh, float* to) {
  const hn::RebindToSigned<D> di;
  const auto lanes = hn::Iota(di, 0), width = hn::Set(di, static_cast<int32_t>(p.out_w));
  for (int64_t j = 0; j < p.in_w; j += kLanes) {
    const int64_t count = std::min(kLanes, p.in_w - j);
    V sum = hn::Zero(d);
    if (!fresh) sum = count == kLanes ? hn::LoadU(d, to + j) : load_part(d, to + j, count);
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
      store_part(d, sum, to + j, count);
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

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(pack_planes);
HWY_EXPORT(unpack_planes);

int64_t pack_scratch_floats(const PackArgs& p) {
  const auto [low, high] = std::minmax_element(p.columns, p.columns + p.column_taps);
  return p.row_count * (*high - *low + (p.out_w - 1) * p.column_stride + 1) + kPackSlack;
}
void pack_planes(const PackArgs& args) { HWY_DYNAMIC_DISPATCH(pack_planes)(args); }
void unpack_planes(const UnpackArgs& args) { HWY_DYNAMIC_DISPATCH(unpack_planes)(args); }
}  // namespace kaiseki::conv
#endif
