// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering: Lavin and Gray, "Fast algorithms for
// convolutional neural networks" (2015), section 4. A tile of the input gives a smaller one of the
// output; in between each of its elements is a matrix product of its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// F(outputs x outputs, taps x taps): of 4 and 3, 2 and 5, or 2 and 3.
struct WinogradForm {
  int64_t outputs, taps;
  int64_t tile() const { return outputs + taps - 1; }
  int64_t elements() const { return tile() * tile(); }
};

/// Channels that are transformed side by side. All are written; what is beyond the planes' number
/// is of no use.
constexpr int64_t kWinogradChannels = 16;
inline int64_t winograd_padded(int64_t channels) {
  return (channels + kWinogradChannels - 1) / kWinogradChannels * kWinogradChannels;
}

/// Of rows of tiles, tiles_h in each image, `count` ones from `row` on: calls f(image, its first
/// row, how many of it, how many before) for each image that they meet.
template <typename F>
void each_image(int64_t row, int64_t count, int64_t tiles_h, F f) {
  for (int64_t done = 0; done < count;) {
    const int64_t image = (row + done) / tiles_h, first = (row + done) % tiles_h;
    const int64_t rows = std::min(tiles_h - first, count - done);
    f(image, first, rows, done);
    done += rows;
  }
}

/// Some rows of tiles of 1..16 neighbouring planes [h][w] of an image, tiles_w in each row, the
/// next tile `outputs` pixels on. What lies outside of a plane is 0.
struct WinogradStrip {
  int64_t channels, h, w;
  int64_t tile_row, tile_rows, tiles_w;
};

/// Where the elements of tiles are: (element e, tile t, channel i) at e * element_stride + t *
/// tile_stride + i.
struct WinogradLayout {
  int64_t tile_stride, element_stride;
};

/// Floats of scratch for any of the transforms of tiles.
int64_t winograd_scratch_floats(const WinogradForm& form, int64_t tiles_w);

/// The elements of the tiles of x, the first of which starts `top` and `left` before the plane.
void winograd_input(const WinogradForm& form, const WinogradStrip& strip, const float* x,
                    int64_t top, int64_t left, float* scratch, float* out,
                    const WinogradLayout& layout);

/// What is done to an output value last; of the activations only none, relu and leaky_relu.
struct WinogradFinish {
  const float* bias;  // of the strip's channels, or nullptr
  Activation activation;
  float slope;
};

/// The tiles' outputs from their elements; tiles may overhang the planes.
void winograd_output(const WinogradForm& form, const WinogradStrip& strip, const float* in,
                     const WinogradLayout& layout, const WinogradFinish& finish, float* scratch,
                     float* y);

/// The transpose of winograd_output: the elements of tiles of outputs' gradients.
void winograd_gradient(const WinogradForm& form, const WinogradStrip& strip, const float* dy,
                       float* scratch, float* out, const WinogradLayout& layout);

/// The elements of 1..16 filters, `filter_stride` floats apart: element e of filter i goes to out[e
/// * element_stride + i], and zeros up to i = 15. Turned filters are read backwards.
void winograd_filters(const WinogradForm& form, const float* filters, int64_t count,
                      int64_t filter_stride, bool turned, float* out, int64_t element_stride);

/// The transpose of winograd_filters, for filters that lie one after the other: filter = gradient +
/// beta * filter, of element e of filter i at sums[e * element_stride + i].
void winograd_filter_gradient(const WinogradForm& form, const float* sums, int64_t element_stride,
                              int64_t count, float beta, float* filters);

}  // namespace kaiseki::conv
