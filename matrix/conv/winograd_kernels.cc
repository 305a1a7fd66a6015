// SPDX-License-Identifier: MIT
// Tiles lie in the lanes of a vector, across the ends of their rows: the input is sorted first by
// its place in a tile, so that what a vector of tiles reads lies side by side.
#include "matrix/conv/winograd_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/conv/winograd_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/conv/packed-inl.h"

#ifndef KAISEKI_CONV_WINOGRAD_SHARED_
#define KAISEKI_CONV_WINOGRAD_SHARED_
namespace kaiseki::conv {
constexpr int64_t kMostLanes = 16;
constexpr int64_t kSortedTiles = 128;  // sorted at once: they stay in the first-level cache

inline int64_t sorted_rows(int64_t tiles_w) {
  return std::max<int64_t>(1, kSortedTiles / std::max<int64_t>(1, tiles_w));
}
/// Values of one row and one column of a tile: a part of what is sorted.
inline int64_t part_floats(const WinogradForm& form, int64_t tile_rows, int64_t tiles_w) {
  return (tile_rows + (form.tile() - 1) / form.outputs) * tiles_w + kMostLanes;
}
inline int64_t row_floats(const WinogradForm& form, int64_t tiles_w) {
  return form.outputs * (tiles_w + kMostLanes) + form.tile() + kMostLanes;
}
}  // namespace kaiseki::conv
#endif

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

template <int64_t kLanes>
using Tag = hn::CappedTag<float, static_cast<size_t>(kLanes)>;
template <int64_t kLanes>
constexpr int64_t kWidth = static_cast<int64_t>(hn::MaxLanes(Tag<kLanes>()));

/// B^T of a column. A tile of six has the points 0, 1, -1, 2, -2 and infinity, whatever its
/// outputs.
template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_input(Tag d, const V (&x)[6], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
  const V even = hn::NegMulAdd(four, x[2], x[4]), odd = hn::NegMulAdd(four, x[1], x[3]);
  const V near = hn::Sub(x[4], x[2]), far = hn::Sub(x[3], x[1]);
  const V twice = hn::Add(far, far);
  y[0] = hn::MulAdd(four, x[0], hn::NegMulAdd(five, x[2], x[4]));
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(near, twice);
  y[4] = hn::Sub(near, twice);
  y[5] = hn::MulAdd(four, x[1], hn::NegMulAdd(five, x[3], x[5]));
}

/// A tile of four: 0, 1, -1 and infinity.
template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_input(Tag, const V (&x)[4], V (&y)[4]) {
  y[0] = hn::Sub(x[0], x[2]);
  y[1] = hn::Add(x[1], x[2]);
  y[2] = hn::Sub(x[2], x[1]);
  y[3] = hn::Sub(x[3], x[1]);
}

/// A^T of a column.
template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_output(Tag d, const V (&x)[6], V (&y)[4]) {
  const V sum = hn::Add(x[1], x[2]), difference = hn::Sub(x[1], x[2]);
  const V far_sum = hn::Add(x[3], x[4]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], sum), far_sum);
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_sum, sum);
  y[3] = hn::Add(hn::MulAdd(hn::Set(d, 8.0f), far_difference, difference), x[5]);
}

template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_output(Tag d, const V (&x)[6], V (&y)[2]) {
  const V difference = hn::Sub(x[1], x[2]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], hn::Add(x[1], x[2])), hn::Add(x[3], x[4]));
  y[1] = hn::Add(hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference), x[5]);
}

template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_output(Tag, const V (&x)[4], V (&y)[2]) {
  y[0] = hn::Add(x[0], hn::Add(x[1], x[2]));
  y[1] = hn::Add(hn::Sub(x[1], x[2]), x[3]);
}

/// G of a column: its polynomial at every point of six, each divided by what B^T leaves out.
template <class Tag, class V = hn::Vec<Tag>, size_t kTaps>
HWY_INLINE void transform_filter(Tag d, const V (&g)[kTaps], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f), sixth = hn::Set(d, -1.0f / 6), small = hn::Set(d, 1.0f / 24);
  V near_even = hn::Add(g[0], g[2]), far_even = hn::MulAdd(four, g[2], g[0]);
  V near_odd = g[1], far_odd = g[1];
  if constexpr (kTaps == 5) {
    near_even = hn::Add(near_even, g[4]);
    far_even = hn::MulAdd(hn::Set(d, 16.0f), g[4], far_even);
    near_odd = hn::Add(near_odd, g[3]);
    far_odd = hn::MulAdd(four, g[3], far_odd);
  }
  far_odd = hn::Add(far_odd, far_odd);
  y[0] = hn::Mul(g[0], hn::Set(d, 0.25f));
  y[1] = hn::Mul(hn::Add(near_even, near_odd), sixth);
  y[2] = hn::Mul(hn::Sub(near_even, near_odd), sixth);
  y[3] = hn::Mul(hn::Add(far_even, far_odd), small);
  y[4] = hn::Mul(hn::Sub(far_even, far_odd), small);
  y[5] = g[kTaps - 1];
}

template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE void transform_filter(Tag d, const V (&g)[3], V (&y)[4]) {
  const V half = hn::Set(d, 0.5f), even = hn::Add(g[0], g[2]);
  y[0] = g[0];
  y[1] = hn::Mul(hn::Add(even, g[1]), half);
  y[2] = hn::Mul(hn::Sub(even, g[1]), half);
  y[3] = g[2];
}

/// to[c * stride + t] = row[kOut * t + c], for every column c of a tile.
template <int kOut, int kTile, int64_t kLanes>
HWY_INLINE void sort_vector(const float* row, float* to, int64_t stride) {
  const Tag<kLanes> d;
  hn::Vec<Tag<kLanes>> v[kOut];
  HWY_UNROLL(6)
  for (int c = 0; c < kTile; ++c) {
    if (c % kOut == 0) {
      if constexpr (kOut == 4)
        hn::LoadInterleaved4(d, row + c, v[0], v[1], v[2], v[3]);
      else
        hn::LoadInterleaved2(d, row + c, v[0], v[1]);
    }
    hn::StoreU(v[c % kOut], d, to + c * stride);
  }
}

template <int kOut, int kTile>
void sort_row(const float* row, int64_t tiles, float* to, int64_t stride) {
  for (int64_t t = 0; t < tiles;) {
    const float* from = row + kOut * t;
    if (tiles - t > 8)
      sort_vector<kOut, kTile, 16>(from, to + t, stride), t += kWidth<16>;
    else if (tiles - t > 4)
      sort_vector<kOut, kTile, 8>(from, to + t, stride), t += kWidth<8>;
    else
      sort_vector<kOut, kTile, 4>(from, to + t, stride), t += kWidth<4>;
  }
}

struct Plane {
  const float* x;
  int64_t h, w, top, left;
};

/// [column of a tile][row % kOut][row / kOut][tiles_w]: row r of tile row t is row kOut * t + r.
template <int kOut, int kTile>
void sort_plane(const WinogradTiles& t, const Plane& plane, float* row, float* sorted,
                int64_t part) {
  constexpr int64_t kMore = (kTile - 1) / kOut, kLast = (kTile - 1) % kOut;
  const int64_t needed = kOut * (t.tiles_w - 1) + kTile;
  const int64_t begin = std::clamp<int64_t>(plane.left, 0, needed);
  const int64_t end = std::clamp<int64_t>(plane.w + plane.left, begin, needed);
  for (int64_t group = 0; group < t.tile_rows + kMore; ++group)
    for (int64_t i = 0; i <= (group + 1 == t.tile_rows + kMore ? kLast : kOut - 1); ++i) {
      const int64_t y = kOut * (t.tile_row + group) + i - plane.top;
      const bool inside = y >= 0 && y < plane.h && begin < end;
      std::fill_n(row, inside ? begin : needed, 0.0f);
      if (inside) {
        std::copy_n(plane.x + y * plane.w + begin - plane.left, end - begin, row + begin);
        std::fill(row + end, row + needed, 0.0f);
      }
      sort_row<kOut, kTile>(row, t.tiles_w, sorted + i * part + group * t.tiles_w, kOut * part);
    }
}

template <int kOut, int kTile, int64_t kLanes>
HWY_INLINE void input_vector(const float* sorted, int64_t part, int64_t tiles_w, float* out,
                             int64_t stride) {
  const Tag<kLanes> d;
  using V = hn::Vec<Tag<kLanes>>;
  HWY_ALIGN float half[kTile][kTile][kWidth<kLanes>];  // [column][row of B^T]
  HWY_UNROLL(6)
  for (int s = 0; s < kTile; ++s) {
    V x[kTile], y[kTile];
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r)
      x[r] = hn::LoadU(d, sorted + (s * kOut + r % kOut) * part + r / kOut * tiles_w);
    transform_input(d, x, y);
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) hn::Store(y[r], d, half[s][r]);
  }
  HWY_UNROLL(6)
  for (int r = 0; r < kTile; ++r) {
    V row[kTile], y[kTile];
    HWY_UNROLL(6)
    for (int s = 0; s < kTile; ++s) row[s] = hn::Load(d, half[s][r]);
    transform_input(d, row, y);
    HWY_UNROLL(6)
    for (int s = 0; s < kTile; ++s) hn::StoreU(y[s], d, out + (r * kTile + s) * stride);
  }
}

template <int kOut, int kTaps>
void input(const WinogradTiles& all, const Plane& plane, float* scratch, float* out) {
  constexpr int kTile = kOut + kTaps - 1;
  constexpr WinogradForm kForm{kOut, kTaps};
  WinogradTiles t = all;
  float* row = scratch;
  float* sorted = scratch + row_floats(kForm, t.tiles_w);
  const int64_t last_row = all.tile_row + all.tile_rows;
  for (; t.tile_row < last_row; t.tile_row += t.tile_rows) {
    t.tile_rows = std::min(sorted_rows(t.tiles_w), last_row - t.tile_row);
    const int64_t part = part_floats(kForm, t.tile_rows, t.tiles_w);
    sort_plane<kOut, kTile>(t, plane, row, sorted, part);
    const int64_t count = t.tile_rows * t.tiles_w;
    for (int64_t i = 0; i < count;) {
      const float* from = sorted + i;
      if (count - i > 8)
        input_vector<kOut, kTile, 16>(from, part, t.tiles_w, out + i, t.element_stride),
            i += kWidth<16>;
      else if (count - i > 4)
        input_vector<kOut, kTile, 8>(from, part, t.tiles_w, out + i, t.element_stride),
            i += kWidth<8>;
      else
        input_vector<kOut, kTile, 4>(from, part, t.tiles_w, out + i, t.element_stride),
            i += kWidth<4>;
    }
    out += count;
  }
}

/// Row i of the tiles' outputs goes to y + i * pitch.
template <int kOut, int kTile, int64_t kLanes>
HWY_INLINE void output_vector(const float* in, int64_t stride, const WinogradFinish& last, float* y,
                              int64_t pitch) {
  const Tag<kLanes> d;
  using V = hn::Vec<Tag<kLanes>>;
  HWY_ALIGN float half[kOut][kTile][kWidth<kLanes>];  // [row of A^T][column]
  HWY_UNROLL(6)
  for (int s = 0; s < kTile; ++s) {
    V x[kTile], z[kOut];
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) x[r] = hn::LoadU(d, in + (r * kTile + s) * stride);
    transform_output(d, x, z);
    HWY_UNROLL(4)
    for (int i = 0; i < kOut; ++i) hn::Store(z[i], d, half[i][s]);
  }
  for (int i = 0; i < kOut; ++i) {
    V x[kTile], z[kOut];
    HWY_UNROLL(6)
    for (int s = 0; s < kTile; ++s) x[s] = hn::Load(d, half[i][s]);
    transform_output(d, x, z);
    HWY_UNROLL(4)
    for (int j = 0; j < kOut; ++j)
      z[j] = activate(d, hn::Add(z[j], hn::Set(d, last.bias)), last.activation, last.slope);
    if constexpr (kOut == 4)
      hn::StoreInterleaved4(z[0], z[1], z[2], z[3], d, y + i * pitch);
    else
      hn::StoreInterleaved2(z[0], z[1], d, y + i * pitch);
  }
}

struct Target {
  float* y;
  int64_t h, w, tiles_w;
};

/// Copies `count` tiles from `tile` on, side by side in `rows`, each to its place.
template <int kOut>
void place_tiles(const float* rows, int64_t pitch, int64_t tile, int64_t count, const Target& to) {
  int64_t ty = tile / to.tiles_w, tx = tile % to.tiles_w;
  while (count > 0) {
    const int64_t side_by_side = std::min(to.tiles_w - tx, count);
    const int64_t columns = std::min(kOut * side_by_side, to.w - kOut * tx);
    for (int64_t i = 0; i < std::min<int64_t>(kOut, to.h - kOut * ty); ++i) {
      float* y = to.y + (kOut * ty + i) * to.w + kOut * tx;
      for (int64_t j = 0; j < columns; j += kLanes)
        store_part(d, hn::LoadU(d, rows + i * pitch + j), y + j, std::min(kLanes, columns - j));
    }
    rows += kOut * side_by_side, count -= side_by_side;
    tx = 0, ++ty;
  }
}

/// One vector of tiles from number `tile` of the plane on, at most `rest`; how many it were.
template <int kOut, int kTile, int64_t kLanes>
int64_t output_tiles(const float* in, int64_t stride, const WinogradFinish& last, int64_t tile,
                     int64_t rest, const Target& to) {
  constexpr int64_t kCount = kWidth<kLanes>, kPitch = kOut * kCount + kMostLanes;
  const int64_t ty = tile / to.tiles_w, tx = tile % to.tiles_w;
  if (kOut * (tx + kCount) <= to.w && kOut * (ty + 1) <= to.h) {
    output_vector<kOut, kTile, kLanes>(in, stride, last, to.y + kOut * (ty * to.w + tx), to.w);
  } else {
    HWY_ALIGN float rows[kOut * kPitch];
    output_vector<kOut, kTile, kLanes>(in, stride, last, rows, kPitch);
    place_tiles<kOut>(rows, kPitch, tile, std::min(kCount, rest), to);
  }
  return std::min(kCount, rest);
}

template <int kOut, int kTaps>
void output(const WinogradTiles& t, const float* in, const WinogradFinish& last, float* y,
            int64_t h, int64_t w) {
  constexpr int kTile = kOut + kTaps - 1;
  const Target to{y, h, w, t.tiles_w};
  const int64_t count = t.tile_rows * t.tiles_w, first = t.tile_row * t.tiles_w;
  for (int64_t i = 0; i < count;) {
    const int64_t rest = count - i;
    if (rest > 8)
      i += output_tiles<kOut, kTile, 16>(in + i, t.element_stride, last, first + i, rest, to);
    else if (rest > 4)
      i += output_tiles<kOut, kTile, 8>(in + i, t.element_stride, last, first + i, rest, to);
    else
      i += output_tiles<kOut, kTile, 4>(in + i, t.element_stride, last, first + i, rest, to);
  }
}

template <int kOut, int kTaps>
void filters(const float* from, int64_t count, int64_t filter_stride, bool turned, float* out,
             int64_t stride) {
  constexpr int kTile = kOut + kTaps - 1, kSize = kTaps * kTaps;
  for (int64_t i = 0; i < count; i += kLanes, from += kLanes * filter_stride, out += kLanes) {
    HWY_ALIGN float taps[kSize][kLanes] = {};
    for (int64_t lane = 0; lane < std::min(kLanes, count - i); ++lane)
      for (int t = 0; t < kSize; ++t)
        taps[turned ? kSize - 1 - t : t][lane] = from[lane * filter_stride + t];
    V half[kTile][kTaps];
    HWY_UNROLL(5)
    for (int s = 0; s < kTaps; ++s) {
      V g[kTaps], y[kTile];
      HWY_UNROLL(5)
      for (int r = 0; r < kTaps; ++r) g[r] = hn::Load(d, taps[r * kTaps + s]);
      transform_filter(d, g, y);
      HWY_UNROLL(6)
      for (int r = 0; r < kTile; ++r) half[r][s] = y[r];
    }
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) {
      V y[kTile];
      transform_filter(d, half[r], y);
      HWY_UNROLL(6)
      for (int s = 0; s < kTile; ++s) {
        float* to = out + (r * kTile + s) * stride;
        if (count - i < kLanes)
          store_part(d, y[s], to, count - i);
        else
          hn::StoreU(y[s], d, to);
      }
    }
  }
}

void any_input(const WinogradForm& form, const WinogradTiles& tiles, const float* x, int64_t h,
               int64_t w, int64_t top, int64_t left, float* scratch, float* out) {
  const Plane plane{x, h, w, top, left};
  if (form.outputs == 4)
    input<4, 3>(tiles, plane, scratch, out);
  else if (form.taps == 5)
    input<2, 5>(tiles, plane, scratch, out);
  else
    input<2, 3>(tiles, plane, scratch, out);
}

void any_output(const WinogradForm& form, const WinogradTiles& tiles, const float* in,
                const WinogradFinish& last, float* y, int64_t h, int64_t w) {
  if (form.outputs == 4)
    output<4, 3>(tiles, in, last, y, h, w);
  else if (form.taps == 5)
    output<2, 5>(tiles, in, last, y, h, w);
  else
    output<2, 3>(tiles, in, last, y, h, w);
}

void any_filters(const WinogradForm& form, const float* from, int64_t count, int64_t filter_stride,
                 bool turned, float* out, int64_t stride) {
  if (form.outputs == 4)
    filters<4, 3>(from, count, filter_stride, turned, out, stride);
  else if (form.taps == 5)
    filters<2, 5>(from, count, filter_stride, turned, out, stride);
  else
    filters<2, 3>(from, count, filter_stride, turned, out, stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(any_input);
HWY_EXPORT(any_output);
HWY_EXPORT(any_filters);

int64_t winograd_scratch_floats(const WinogradForm& form, int64_t tiles_w) {
  return row_floats(form, tiles_w) +
         form.tile() * form.outputs * part_floats(form, sorted_rows(tiles_w), tiles_w);
}

void winograd_input(const WinogradForm& form, const WinogradTiles& tiles, const float* x, int64_t h,
                    int64_t w, int64_t top, int64_t left, float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(any_input)(form, tiles, x, h, w, top, left, scratch, out);
}

void winograd_output(const WinogradForm& form, const WinogradTiles& tiles, const float* in,
                     const WinogradFinish& last, float* y, int64_t h, int64_t w) {
  HWY_DYNAMIC_DISPATCH(any_output)(form, tiles, in, last, y, h, w);
}

void winograd_filters(const WinogradForm& form, const float* filters, int64_t count,
                      int64_t filter_stride, bool turned, float* out, int64_t element_stride) {
  HWY_DYNAMIC_DISPATCH(any_filters)
  (form, filters, count, filter_stride, turned, out, element_stride);
}
}  // namespace kaiseki::conv
#endif
