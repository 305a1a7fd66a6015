// SPDX-License-Identifier: MIT
// The lanes of a vector hold channels. Planes are first transposed to [row][column][channel], and
// outputs are transposed back.
#include "matrix/backend/cpu/conv/winograd_kernels.h"

#include <algorithm>

#include "matrix/backend/cpu/gemm_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/winograd_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "matrix/backend/cpu/conv/winograd_columns-inl.h"

#ifndef KAISEKI_CONV_WINOGRAD_SHARED_
#define KAISEKI_CONV_WINOGRAD_SHARED_
namespace kaiseki::conv {
constexpr int64_t kChannels = kWinogradChannels;
constexpr int64_t kTurnedPixels = 2048;  // pixels of 16 channels: a part of the second-level cache

/// The number of rows of tiles with pixels transposed together.
inline int64_t turned_rows(const WinogradForm& form, int64_t tiles_w) {
  const int64_t pixels = form.outputs * std::max<int64_t>(1, tiles_w) + form.taps - 1;
  return std::max<int64_t>(1, (kTurnedPixels / pixels - form.taps + 1) / form.outputs);
}
}  // namespace kaiseki::conv
#endif

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

/// Transposes planes to pixels [rows][columns][16], from row `first_row` and column `first_column`
/// on.
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

/// B^T x B, for overlapping tiles.
template <int kOut, int kTaps>
struct InputTransform {
  static constexpr int kIn = kOut + kTaps - 1, kTile = kIn, kStep = kOut;
  static HWY_INLINE void apply(const V (&x)[kIn], V (&y)[kTile]) { transform_input(x, y); }
};

/// A x A^T, for tiles of outputs.
template <int kOut, int kTaps>
struct GradientTransform {
  static constexpr int kIn = kOut, kTile = kOut + kTaps - 1, kStep = kOut;
  static HWY_INLINE void apply(const V (&x)[kIn], V (&y)[kTile]) { transform_gradient(x, y); }
};

/// Transforms up to kTogether tiles of a row, one vector of channels.
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

/// Computes one vector of channels of a tile. Row i of its outputs is written to to + i * pitch.
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
