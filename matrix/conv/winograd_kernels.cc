// SPDX-License-Identifier: MIT
#include "matrix/conv/winograd_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/conv/winograd_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

template <size_t kLanes>
using Tag = hn::CappedTag<float, kLanes>;

/// B^T of a column of six.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transform_input(D d, const V (&x)[6], V (&y)[6]) {
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

/// A^T of a column of six.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transform_output(D d, const V (&x)[6], V (&y)[4]) {
  const V sum = hn::Add(x[1], x[2]), difference = hn::Sub(x[1], x[2]);
  const V far_sum = hn::Add(x[3], x[4]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], sum), far_sum);
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_sum, sum);
  y[3] = hn::Add(hn::MulAdd(hn::Set(d, 8.0f), far_difference, difference), x[5]);
}

/// Tiles in the lanes, from six rows that lie `pitch` apart.
template <size_t kLanes>
HWY_INLINE void input_vector(const float* rows, int64_t pitch, float* out, int64_t stride) {
  const Tag<kLanes> d;
  using V = hn::Vec<Tag<kLanes>>;
  constexpr size_t kMax = hn::MaxLanes(d);
  HWY_ALIGN float half[6][6][kMax];  // [column][row of B^T]
  V x[6][6];                         // [column][row]
  HWY_UNROLL(6)
  for (int r = 0; r < 6; ++r) {
    V unused[2];
    hn::LoadInterleaved4(d, rows + r * pitch, x[0][r], x[1][r], x[2][r], x[3][r]);
    hn::LoadInterleaved4(d, rows + r * pitch + 4, x[4][r], x[5][r], unused[0], unused[1]);
  }
  HWY_UNROLL(6)
  for (int s = 0; s < 6; ++s) {
    V y[6];
    transform_input(d, x[s], y);
    HWY_UNROLL(6)
    for (int r = 0; r < 6; ++r) hn::Store(y[r], d, half[s][r]);
  }
  HWY_UNROLL(6)
  for (int r = 0; r < 6; ++r) {
    V row[6], y[6];
    HWY_UNROLL(6)
    for (int s = 0; s < 6; ++s) row[s] = hn::Load(d, half[s][r]);
    transform_input(d, row, y);
    HWY_UNROLL(6)
    for (int s = 0; s < 6; ++s) hn::StoreU(y[s], d, out + (r * 6 + s) * stride);
  }
}

void input(const WinogradTiles& t, const float* x, int64_t h, int64_t w, int64_t top, int64_t left,
           float* rows, float* out) {
  const int64_t pitch = winograd_row_floats(t.tiles_w) / 6, needed = 4 * t.tiles_w + 2;
  const int64_t begin = std::clamp<int64_t>(left, 0, needed);
  const int64_t end = std::clamp<int64_t>(w + left, begin, needed);
  for (int64_t ty = t.tile_row; ty < t.tile_row + t.tile_rows; ++ty, out += t.tiles_w) {
    for (int64_t r = 0; r < 6; ++r) {
      float* row = rows + r * pitch;
      const int64_t y = 4 * ty + r - top;
      if (y < 0 || y >= h) {
        std::fill_n(row, needed, 0.0f);
        continue;
      }
      std::fill_n(row, begin, 0.0f);
      std::copy_n(x + y * w + begin - left, end - begin, row + begin);
      std::fill(row + end, row + needed, 0.0f);
    }
    for (int64_t tx = 0; tx < t.tiles_w;) {
      const int64_t rest = t.tiles_w - tx;
      const float* from = rows + 4 * tx;
      if (rest > 8) {
        input_vector<16>(from, pitch, out + tx, t.element_stride);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<16>()));
      } else if (rest > 4) {
        input_vector<8>(from, pitch, out + tx, t.element_stride);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<8>()));
      } else {
        input_vector<4>(from, pitch, out + tx, t.element_stride);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<4>()));
      }
    }
  }
}

/// Tiles in the lanes; row i of the result goes to y + i * pitch for i < rows, `columns` of it.
template <size_t kLanes>
HWY_INLINE void output_vector(const float* in, int64_t stride, const WinogradFinish& last, float* y,
                              int64_t pitch, int64_t rows, int64_t columns) {
  const Tag<kLanes> d;
  using V = hn::Vec<Tag<kLanes>>;
  constexpr size_t kMax = hn::MaxLanes(d);
  HWY_ALIGN float half[4][6][kMax];  // [row of A^T][column]
  HWY_UNROLL(6)
  for (int s = 0; s < 6; ++s) {
    V x[6], z[4];
    HWY_UNROLL(6)
    for (int r = 0; r < 6; ++r) x[r] = hn::LoadU(d, in + (r * 6 + s) * stride);
    transform_output(d, x, z);
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) hn::Store(z[i], d, half[i][s]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    V x[6], z[4];
    HWY_UNROLL(6)
    for (int s = 0; s < 6; ++s) x[s] = hn::Load(d, half[i][s]);
    transform_output(d, x, z);
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j)
      z[j] = activate(d, hn::Add(z[j], hn::Set(d, last.bias)), last.activation, last.slope);
    if (columns >= static_cast<int64_t>(4 * kMax)) {
      hn::StoreInterleaved4(z[0], z[1], z[2], z[3], d, y + i * pitch);
    } else {
      HWY_ALIGN float row[4 * kMax];
      hn::StoreInterleaved4(z[0], z[1], z[2], z[3], d, row);
      std::copy_n(row, columns, y + i * pitch);
    }
  }
}

void output(const WinogradTiles& t, const float* in, const WinogradFinish& last, float* y,
            int64_t h, int64_t w) {
  for (int64_t ty = t.tile_row; ty < t.tile_row + t.tile_rows; ++ty, in += t.tiles_w) {
    const int64_t rows = std::min<int64_t>(4, h - 4 * ty);
    for (int64_t tx = 0; tx < t.tiles_w;) {
      const int64_t rest = t.tiles_w - tx, columns = w - 4 * tx;
      float* to = y + 4 * ty * w + 4 * tx;
      if (rest > 8) {
        output_vector<16>(in + tx, t.element_stride, last, to, w, rows, columns);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<16>()));
      } else if (rest > 4) {
        output_vector<8>(in + tx, t.element_stride, last, to, w, rows, columns);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<8>()));
      } else {
        output_vector<4>(in + tx, t.element_stride, last, to, w, rows, columns);
        tx += static_cast<int64_t>(hn::MaxLanes(Tag<4>()));
      }
    }
  }
}

/// G of a column of three.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transform_filter(D d, V a, V b, V c, V (&y)[6]) {
  const V sixth = hn::Set(d, -1.0f / 6), small = hn::Set(d, 1.0f / 24);
  const V even = hn::Mul(hn::Add(a, c), sixth), near = hn::Mul(b, sixth);
  const V far = hn::MulAdd(hn::Set(d, 1.0f / 6), c, hn::Mul(a, small));
  const V half = hn::Mul(b, hn::Set(d, 1.0f / 12));
  y[0] = hn::Mul(a, hn::Set(d, 0.25f));
  y[1] = hn::Add(even, near);
  y[2] = hn::Sub(even, near);
  y[3] = hn::Add(far, half);
  y[4] = hn::Sub(far, half);
  y[5] = c;
}

void filters(const float* from, int64_t count, int64_t filter_stride, bool turned, float* out,
             int64_t stride) {
  for (int64_t i = 0; i < count; i += kLanes, from += kLanes * filter_stride, out += kLanes) {
    HWY_ALIGN float taps[9][kLanes] = {};
    for (int64_t lane = 0; lane < std::min(kLanes, count - i); ++lane)
      for (int t = 0; t < 9; ++t) taps[turned ? 8 - t : t][lane] = from[lane * filter_stride + t];
    V half[6][3];
    HWY_UNROLL(3)
    for (int s = 0; s < 3; ++s) {
      V y[6];
      transform_filter(d, hn::Load(d, taps[s]), hn::Load(d, taps[3 + s]), hn::Load(d, taps[6 + s]),
                       y);
      HWY_UNROLL(6)
      for (int r = 0; r < 6; ++r) half[r][s] = y[r];
    }
    HWY_UNROLL(6)
    for (int r = 0; r < 6; ++r) {
      V y[6];
      transform_filter(d, half[r][0], half[r][1], half[r][2], y);
      HWY_UNROLL(6)
      for (int s = 0; s < 6; ++s) {
        float* to = out + (r * 6 + s) * stride;
        if (count - i < kLanes)
          store_part(d, y[s], to, count - i);
        else
          hn::StoreU(y[s], d, to);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(input);
HWY_EXPORT(output);
HWY_EXPORT(filters);

int64_t winograd_row_floats(int64_t tiles_w) { return 6 * (4 * ((tiles_w + 15) / 16 * 16) + 8); }

void winograd_input(const WinogradTiles& tiles, const float* x, int64_t h, int64_t w, int64_t top,
                    int64_t left, float* rows, float* out) {
  HWY_DYNAMIC_DISPATCH(input)(tiles, x, h, w, top, left, rows, out);
}

void winograd_output(const WinogradTiles& tiles, const float* in, const WinogradFinish& last,
                     float* y, int64_t h, int64_t w) {
  HWY_DYNAMIC_DISPATCH(output)(tiles, in, last, y, h, w);
}

void winograd_filters(const float* filters, int64_t count, int64_t filter_stride, bool turned,
                      float* out, int64_t element_stride) {
  HWY_DYNAMIC_DISPATCH(filters)(filters, count, filter_stride, turned, out, element_stride);
}
}  // namespace kaiseki::conv
#endif
