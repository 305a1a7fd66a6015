// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering: Lavin and Gray, "Fast algorithms for
// convolutional neural networks" (2015), section 4. An input tile gives a smaller output tile.
// Between the two transforms, each element of a tile is a separate matrix product.
#pragma once

#include <algorithm>
#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// F(outputs x outputs, taps x taps): (4, 3), (2, 5) or (2, 3).
struct WinogradForm {
  int64_t outputs, taps;
  int64_t tile() const { return outputs + taps - 1; }
  int64_t elements() const { return tile() * tile(); }
};

/// The number of channels transformed side by side. All are written; channels beyond the number of
/// planes are padding.
constexpr int64_t kWinogradChannels = 16;
inline int64_t winograd_padded(int64_t channels) {
  return (channels + kWinogradChannels - 1) / kWinogradChannels * kWinogradChannels;
}

/// Iterates over `count` rows of tiles from `row` on, with tiles_h rows per image. Calls f(image,
/// first row in it, number of rows in it, number of rows before) for each image.
template <typename F>
void each_image(int64_t row, int64_t count, int64_t tiles_h, F f) {
  for (int64_t done = 0; done < count;) {
    const int64_t image = (row + done) / tiles_h, first = (row + done) % tiles_h;
    const int64_t rows = std::min(tiles_h - first, count - done);
    f(image, first, rows, done);
    done += rows;
  }
}

/// Some rows of tiles of 1..16 neighboring planes [h][w] of an image. Each row has tiles_w tiles,
/// `outputs` pixels apart. Values outside a plane are 0.
struct WinogradStrip {
  int64_t channels, h, w;
  int64_t tile_row, tile_rows, tiles_w;
};

/// The layout of tile elements: (element e, tile t, channel i) is at e * element_stride + t *
/// tile_stride + i.
struct WinogradLayout {
  int64_t tile_stride, element_stride;
};

/// Scratch floats for each of the tile transforms.
int64_t winograd_scratch_floats(const WinogradForm& form, int64_t tiles_w);

/// Computes the elements of the tiles of x. The first tile starts `top` rows and `left` columns
/// before the plane.
void winograd_input(const WinogradForm& form, const WinogradStrip& strip, const float* x,
                    int64_t top, int64_t left, float* scratch, float* out,
                    const WinogradLayout& layout);

/// The last step for an output value. The activation is none, relu or leaky_relu.
struct WinogradFinish {
  const float* bias;  // values for the strip's channels, or nullptr
  Activation activation;
  float slope;
};

/// Computes the outputs of tiles from their elements. Tiles may extend beyond the planes.
void winograd_output(const WinogradForm& form, const WinogradStrip& strip, const float* in,
                     const WinogradLayout& layout, const WinogradFinish& finish, float* scratch,
                     float* y);

/// The transpose of winograd_output: computes the elements of tiles from the gradients of the
/// outputs.
void winograd_gradient(const WinogradForm& form, const WinogradStrip& strip, const float* dy,
                       float* scratch, float* out, const WinogradLayout& layout);

/// Computes the elements of 1..16 filters that are `filter_stride` floats apart. Element e of
/// filter i goes to out[e * element_stride + i]. The values up to i = 15 are filled with zeros. If
/// `turned` is set, filters are read backwards.
void winograd_filters(const WinogradForm& form, const float* filters, int64_t count,
                      int64_t filter_stride, bool turned, float* out, int64_t element_stride);

/// The transpose of winograd_filters, for contiguous filters: filter = gradient + beta * filter.
/// Element e of filter i is at sums[e * element_stride + i].
void winograd_filter_gradient(const WinogradForm& form, const float* sums, int64_t element_stride,
                              int64_t count, float beta, float* filters);

}  // namespace kaiseki::conv
