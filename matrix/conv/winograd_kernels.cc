// SPDX-License-Identifier: MIT
// Channels lie in the lanes of a vector: planes are turned to [row][column][channel] first, and
// outputs back.
#include "matrix/conv/winograd_kernels.h"

#include <algorithm>

#include "matrix/backend/cpu/gemm_kernel.h"

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
constexpr int64_t kChannels = kWinogradChannels;
constexpr int64_t kTurnedPixels = 2048;  // of 16 channels: a part of the second-level cache

/// Rows of tiles whose pixels are turned together.
inline int64_t turned_rows(const WinogradForm& form, int64_t tiles_w) {
  const int64_t pixels = form.outputs * std::max<int64_t>(1, tiles_w) + form.taps - 1;
  return std::max<int64_t>(1, (kTurnedPixels / pixels - form.taps + 1) / form.outputs);
}
}  // namespace kaiseki::conv
#endif

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

/// B^T of a column. A tile of six has the points 0, 1, -1, 2, -2 and infinity, whatever its
/// outputs.
HWY_INLINE void transform_input(const V (&x)[6], V (&y)[6]) {
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
HWY_INLINE void transform_input(const V (&x)[4], V (&y)[4]) {
  y[0] = hn::Sub(x[0], x[2]);
  y[1] = hn::Add(x[1], x[2]);
  y[2] = hn::Sub(x[2], x[1]);
  y[3] = hn::Sub(x[3], x[1]);
}

/// A^T of a column.
HWY_INLINE void transform_output(const V (&x)[6], V (&y)[4]) {
  const V sum = hn::Add(x[1], x[2]), difference = hn::Sub(x[1], x[2]);
  const V far_sum = hn::Add(x[3], x[4]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], sum), far_sum);
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_sum, sum);
  y[3] = hn::Add(hn::MulAdd(hn::Set(d, 8.0f), far_difference, difference), x[5]);
}

HWY_INLINE void transform_output(const V (&x)[6], V (&y)[2]) {
  const V difference = hn::Sub(x[1], x[2]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], hn::Add(x[1], x[2])), hn::Add(x[3], x[4]));
  y[1] = hn::Add(hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference), x[5]);
}

HWY_INLINE void transform_output(const V (&x)[4], V (&y)[2]) {
  y[0] = hn::Add(x[0], hn::Add(x[1], x[2]));
  y[1] = hn::Add(hn::Sub(x[1], x[2]), x[3]);
}

/// G of a column: its polynomial at every point of six, each divided by what B^T leaves out.
template <size_t kTaps>
HWY_INLINE void transform_filter(const V (&g)[kTaps], V (&y)[6]) {
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

HWY_INLINE void transform_filter(const V (&g)[3], V (&y)[4]) {
  const V half = hn::Set(d, 0.5f), even = hn::Add(g[0], g[2]);
  y[0] = g[0];
  y[1] = hn::Mul(hn::Add(even, g[1]), half);
  y[2] = hn::Mul(hn::Sub(even, g[1]), half);
  y[3] = g[2];
}

/// A of a column: the transpose of transform_output.
HWY_INLINE void transform_gradient(const V (&x)[4], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f);
  const V even = hn::Add(x[0], x[2]), odd = hn::Add(x[1], x[3]);
  const V far_even = hn::MulAdd(four, x[2], x[0]), half = hn::MulAdd(four, x[3], x[1]);
  const V far_odd = hn::Add(half, half);
  y[0] = x[0];
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(far_even, far_odd);
  y[4] = hn::Sub(far_even, far_odd);
  y[5] = x[3];
}

HWY_INLINE void transform_gradient(const V (&x)[2], V (&y)[6]) {
  const V twice = hn::Add(x[1], x[1]);
  y[0] = x[0];
  y[1] = hn::Add(x[0], x[1]);
  y[2] = hn::Sub(x[0], x[1]);
  y[3] = hn::Add(x[0], twice);
  y[4] = hn::Sub(x[0], twice);
  y[5] = x[1];
}

HWY_INLINE void transform_gradient(const V (&x)[2], V (&y)[4]) {
  y[0] = x[0];
  y[1] = hn::Add(x[0], x[1]);
  y[2] = hn::Sub(x[0], x[1]);
  y[3] = x[1];
}

/// The transpose of transform_filter.
template <size_t kTaps>
HWY_INLINE void transform_sums(const V (&x)[6], V (&y)[kTaps]) {
  const V sixth = hn::Set(d, -1.0f / 6), small = hn::Set(d, 1.0f / 24);
  const V even = hn::Mul(sixth, hn::Add(x[1], x[2])), odd = hn::Mul(sixth, hn::Sub(x[1], x[2]));
  const V far_even = hn::Mul(small, hn::Add(x[3], x[4]));
  const V far_odd = hn::Mul(small, hn::Sub(x[3], x[4]));
  y[0] = hn::MulAdd(hn::Set(d, 0.25f), x[0], hn::Add(even, far_even));
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_odd, odd);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_even, even);
  if constexpr (kTaps == 5) {
    y[3] = hn::MulAdd(hn::Set(d, 8.0f), far_odd, odd);
    y[4] = hn::MulAdd(hn::Set(d, 16.0f), far_even, even);
  }
  y[kTaps - 1] = hn::Add(y[kTaps - 1], x[5]);
}

HWY_INLINE void transform_sums(const V (&x)[4], V (&y)[3]) {
  const V half = hn::Set(d, 0.5f), even = hn::Mul(half, hn::Add(x[1], x[2]));
  y[0] = hn::Add(x[0], even);
  y[1] = hn::Mul(half, hn::Sub(x[1], x[2]));
  y[2] = hn::Add(even, x[3]);
}

/// Pixels [rows][columns][16] of planes, from row `first_row` and column `first_column` on.
void turn_planes(const WinogradStrip& t, const float* x, int64_t first_row, int64_t rows,
                 int64_t first_column, int64_t columns, float* out) {
  const auto turn = cpu::gemm_kernels().pack_transposed;
  const int64_t begin = std::clamp<int64_t>(-first_column, 0, columns);
  const int64_t end = std::clamp<int64_t>(t.w - first_column, begin, columns);
  for (int64_t y = first_row; y < first_row + rows; ++y, out += columns * kChannels) {
    const bool inside = y >= 0 && y < t.h && begin < end;
    std::fill_n(out, (inside ? begin : columns) * kChannels, 0.0f);
    if (!inside) continue;
    turn(end - begin, static_cast<int>(t.channels), kChannels, x + y * t.w + first_column + begin,
         t.h * t.w, out + begin * kChannels);
    std::fill(out + end * kChannels, out + columns * kChannels, 0.0f);
  }
}

constexpr int64_t kTogether = 8;  // tiles of a row that share the sums of columns

/// B^T x B, of tiles of 2 * kTaps - 1 pixels more than their outputs.
template <int kOut, int kTaps>
struct InputTransform {
  static constexpr int kIn = kOut + kTaps - 1, kTile = kIn, kStep = kOut;
  static HWY_INLINE void apply(const V (&x)[kIn], V (&y)[kTile]) { transform_input(x, y); }
};

template <int kOut, int kTaps>
struct GradientTransform {
  static constexpr int kIn = kOut, kTile = kOut + kTaps - 1, kStep = kOut;
  static HWY_INLINE void apply(const V (&x)[kIn], V (&y)[kTile]) { transform_gradient(x, y); }
};

/// Up to kTogether tiles of a row, one vector of their channels.
template <class Transform>
HWY_INLINE void transform_tiles(const float* pixels, int64_t pitch, int64_t count, float* out,
                                const WinogradLayout& layout) {
  constexpr int kIn = Transform::kIn, kTile = Transform::kTile, kStep = Transform::kStep;
  HWY_ALIGN float half[kTile][kStep * (kTogether - 1) + kIn][kLanes];
  const int64_t columns = kStep * (count - 1) + kIn;
  for (int64_t s = 0; s < columns; ++s) {
    V x[kIn], y[kTile];
    HWY_UNROLL(6)
    for (int r = 0; r < kIn; ++r) x[r] = hn::LoadU(d, pixels + r * pitch + s * kChannels);
    Transform::apply(x, y);
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) hn::Store(y[r], d, half[r][s]);
  }
  for (int r = 0; r < kTile; ++r, out += kTile * layout.element_stride)
    for (int64_t t = 0; t < count; ++t) {
      V x[kIn], y[kTile];
      HWY_UNROLL(6)
      for (int s = 0; s < kIn; ++s) x[s] = hn::Load(d, half[r][kStep * t + s]);
      Transform::apply(x, y);
      float* to = out + t * layout.tile_stride;
      HWY_UNROLL(6)
      for (int s = 0; s < kTile; ++s) hn::StoreU(y[s], d, to + s * layout.element_stride);
    }
}

template <class Transform>
void transform_strip(const WinogradForm& form, const WinogradStrip& t, const float* x, int64_t top,
                     int64_t left, float* scratch, float* out, const WinogradLayout& layout) {
  constexpr int64_t kIn = Transform::kIn, kStep = Transform::kStep;
  const int64_t columns = kStep * (t.tiles_w - 1) + kIn, pitch = columns * kChannels;
  const int64_t most = turned_rows(form, t.tiles_w);
  for (int64_t first = 0; first < t.tile_rows; first += most) {
    const int64_t count = std::min(most, t.tile_rows - first);
    turn_planes(t, x, kStep * (t.tile_row + first) - top, kStep * (count - 1) + kIn, -left, columns,
                scratch);
    for (int64_t row = 0; row < count; ++row, out += t.tiles_w * layout.tile_stride)
      for (int64_t tile = 0; tile < t.tiles_w; tile += kTogether)
        for (int64_t i = 0; i < kChannels; i += kLanes)
          transform_tiles<Transform>(scratch + kStep * (row * pitch + tile * kChannels) + i, pitch,
                                     std::min(kTogether, t.tiles_w - tile),
                                     out + tile * layout.tile_stride + i, layout);
  }
}

/// One vector of channels of a tile: row i of its outputs goes to to + i * pitch.
template <int kOut, int kTile>
HWY_INLINE void output_tile(const float* in, int64_t stride, V bias, const WinogradFinish& last,
                            float* to, int64_t pitch) {
  HWY_ALIGN float half[kOut][kTile][kLanes];
  HWY_UNROLL(6)
  for (int s = 0; s < kTile; ++s) {
    V x[kTile], z[kOut];
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) x[r] = hn::LoadU(d, in + (r * kTile + s) * stride);
    transform_output(x, z);
    HWY_UNROLL(4)
    for (int i = 0; i < kOut; ++i) hn::Store(z[i], d, half[i][s]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < kOut; ++i) {
    V x[kTile], z[kOut];
    HWY_UNROLL(6)
    for (int s = 0; s < kTile; ++s) x[s] = hn::Load(d, half[i][s]);
    transform_output(x, z);
    HWY_UNROLL(4)
    for (int j = 0; j < kOut; ++j)
      hn::StoreU(activate(d, hn::Add(z[j], bias), last.activation, last.slope), d,
                 to + i * pitch + j * kChannels);
  }
}

template <int kOut, int kTaps>
void output(const WinogradStrip& t, const float* in, const WinogradLayout& layout,
            const WinogradFinish& last, float* scratch, float* y) {
  constexpr int kTile = kOut + kTaps - 1;
  const auto turn = cpu::gemm_kernels().pack_transposed;
  const int64_t columns = kOut * t.tiles_w, pitch = columns * kChannels;
  float* planes = scratch + kOut * pitch;
  HWY_ALIGN float bias[kChannels] = {};
  if (last.bias) std::copy_n(last.bias, t.channels, bias);
  for (int64_t row = 0; row < t.tile_rows; ++row, in += t.tiles_w * layout.tile_stride) {
    for (int64_t tile = 0; tile < t.tiles_w; ++tile)
      for (int64_t i = 0; i < kChannels; i += kLanes)
        output_tile<kOut, kTile>(in + tile * layout.tile_stride + i, layout.element_stride,
                                 hn::Load(d, bias + i), last, scratch + kOut * tile * kChannels + i,
                                 pitch);
    turn(t.channels, static_cast<int>(kOut * columns), static_cast<int>(kOut * columns), scratch,
         kChannels, planes);
    const int64_t first = kOut * (t.tile_row + row);
    for (int64_t c = 0; c < t.channels; ++c)
      for (int64_t i = 0; i < std::min<int64_t>(kOut, t.h - first); ++i)
        std::copy_n(planes + (c * kOut + i) * columns, t.w, y + (c * t.h + first + i) * t.w);
  }
}

template <int kOut, int kTaps>
void filters(const float* from, int64_t count, int64_t filter_stride, bool turned, float* out,
             int64_t stride) {
  constexpr int kTile = kOut + kTaps - 1, kSize = kTaps * kTaps;
  for (int64_t i = 0; i < kChannels; i += kLanes, from += kLanes * filter_stride, out += kLanes) {
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
      transform_filter(g, y);
      HWY_UNROLL(6)
      for (int r = 0; r < kTile; ++r) half[r][s] = y[r];
    }
    HWY_UNROLL(6)
    for (int r = 0; r < kTile; ++r) {
      V y[kTile];
      transform_filter(half[r], y);
      HWY_UNROLL(6)
      for (int s = 0; s < kTile; ++s) hn::StoreU(y[s], d, out + (r * kTile + s) * stride);
    }
  }
}

template <int kOut, int kTaps>
void filter_gradient(const float* sums, int64_t stride, int64_t count, float beta, float* out) {
  constexpr int kTile = kOut + kTaps - 1, kSize = kTaps * kTaps;
  for (int64_t i = 0; i < count; i += kLanes, sums += kLanes) {
    HWY_ALIGN float half[kTaps][kTile][kLanes], taps[kSize][kLanes];
    HWY_UNROLL(6)
    for (int s = 0; s < kTile; ++s) {
      V x[kTile], y[kTaps];
      HWY_UNROLL(6)
      for (int r = 0; r < kTile; ++r) x[r] = hn::LoadU(d, sums + (r * kTile + s) * stride);
      transform_sums(x, y);
      HWY_UNROLL(5)
      for (int r = 0; r < kTaps; ++r) hn::Store(y[r], d, half[r][s]);
    }
    HWY_UNROLL(5)
    for (int r = 0; r < kTaps; ++r) {
      V x[kTile], y[kTaps];
      HWY_UNROLL(6)
      for (int s = 0; s < kTile; ++s) x[s] = hn::Load(d, half[r][s]);
      transform_sums(x, y);
      HWY_UNROLL(5)
      for (int s = 0; s < kTaps; ++s) hn::Store(y[s], d, taps[r * kTaps + s]);
    }
    for (int64_t lane = 0; lane < std::min(kLanes, count - i); ++lane, out += kSize)
      for (int t = 0; t < kSize; ++t)
        out[t] = beta == 0 ? taps[t][lane] : taps[t][lane] + beta * out[t];
  }
}

void any_input(const WinogradForm& form, const WinogradStrip& strip, const float* x, int64_t top,
               int64_t left, float* scratch, float* out, const WinogradLayout& layout) {
  if (form.outputs == 4)
    transform_strip<InputTransform<4, 3>>(form, strip, x, top, left, scratch, out, layout);
  else if (form.taps == 5)
    transform_strip<InputTransform<2, 5>>(form, strip, x, top, left, scratch, out, layout);
  else
    transform_strip<InputTransform<2, 3>>(form, strip, x, top, left, scratch, out, layout);
}

void any_gradient(const WinogradForm& form, const WinogradStrip& strip, const float* dy,
                  float* scratch, float* out, const WinogradLayout& layout) {
  if (form.outputs == 4)
    transform_strip<GradientTransform<4, 3>>(form, strip, dy, 0, 0, scratch, out, layout);
  else if (form.taps == 5)
    transform_strip<GradientTransform<2, 5>>(form, strip, dy, 0, 0, scratch, out, layout);
  else
    transform_strip<GradientTransform<2, 3>>(form, strip, dy, 0, 0, scratch, out, layout);
}

void any_output(const WinogradForm& form, const WinogradStrip& strip, const float* in,
                const WinogradLayout& layout, const WinogradFinish& finish, float* scratch,
                float* y) {
  if (form.outputs == 4)
    output<4, 3>(strip, in, layout, finish, scratch, y);
  else if (form.taps == 5)
    output<2, 5>(strip, in, layout, finish, scratch, y);
  else
    output<2, 3>(strip, in, layout, finish, scratch, y);
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

void any_filter_gradient(const WinogradForm& form, const float* sums, int64_t stride, int64_t count,
                         float beta, float* out) {
  if (form.outputs == 4)
    filter_gradient<4, 3>(sums, stride, count, beta, out);
  else if (form.taps == 5)
    filter_gradient<2, 5>(sums, stride, count, beta, out);
  else
    filter_gradient<2, 3>(sums, stride, count, beta, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
HWY_EXPORT(any_input);
HWY_EXPORT(any_gradient);
HWY_EXPORT(any_output);
HWY_EXPORT(any_filters);
HWY_EXPORT(any_filter_gradient);

int64_t winograd_scratch_floats(const WinogradForm& form, int64_t tiles_w) {
  const int64_t columns = form.outputs * tiles_w + form.taps - 1;
  const int64_t rows = form.outputs * turned_rows(form, tiles_w) + form.taps - 1;
  return kChannels * std::max(rows * columns, 2 * form.outputs * form.outputs * tiles_w);
}

void winograd_input(const WinogradForm& form, const WinogradStrip& strip, const float* x,
                    int64_t top, int64_t left, float* scratch, float* out,
                    const WinogradLayout& layout) {
  HWY_DYNAMIC_DISPATCH(any_input)(form, strip, x, top, left, scratch, out, layout);
}

void winograd_gradient(const WinogradForm& form, const WinogradStrip& strip, const float* dy,
                       float* scratch, float* out, const WinogradLayout& layout) {
  HWY_DYNAMIC_DISPATCH(any_gradient)(form, strip, dy, scratch, out, layout);
}

void winograd_output(const WinogradForm& form, const WinogradStrip& strip, const float* in,
                     const WinogradLayout& layout, const WinogradFinish& finish, float* scratch,
                     float* y) {
  HWY_DYNAMIC_DISPATCH(any_output)(form, strip, in, layout, finish, scratch, y);
}

void winograd_filters(const WinogradForm& form, const float* filters, int64_t count,
                      int64_t filter_stride, bool turned, float* out, int64_t element_stride) {
  HWY_DYNAMIC_DISPATCH(any_filters)
  (form, filters, count, filter_stride, turned, out, element_stride);
}

void winograd_filter_gradient(const WinogradForm& form, const float* sums, int64_t element_stride,
                              int64_t count, float beta, float* filters) {
  HWY_DYNAMIC_DISPATCH(any_filter_gradient)(form, sums, element_stride, count, beta, filters);
}
}  // namespace kaiseki::conv
#endif
