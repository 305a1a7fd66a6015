// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering: Lavin and Gray, "Fast algorithms for
// convolutional neural networks" (2015), section 4. A tile of the input gives a smaller one of the
// output; in between each of its elements is a matrix product of its own.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// F(outputs x outputs, taps x taps): of 4 and 3, 2 and 5, or 2 and 3.
struct WinogradForm {
  int64_t outputs, taps;
  int64_t tile() const { return outputs + taps - 1; }
  int64_t elements() const { return tile() * tile(); }
};

/// Floats behind the last value of an element: the transforms write and read whole vectors.
constexpr int64_t kWinogradSlack = 16;

/// Tiles of one plane: rows of tiles tile_row..tile_row + tile_rows, tiles_w in each, the next tile
/// `outputs` pixels on. Value (element e, tile t) is at e * element_stride + t.
struct WinogradTiles {
  int64_t tile_row, tile_rows, tiles_w;
  int64_t element_stride;
};

/// x is one plane [h][w]; what lies outside is 0. Tiles have to be written in ascending order of
/// their place in memory: up to 15 values behind the last one are overwritten.
void winograd_input(const WinogradForm& form, const WinogradTiles& tiles, const float* x, int64_t h,
                    int64_t w, int64_t top, int64_t left, float* scratch, float* out);
int64_t winograd_scratch_floats(const WinogradForm& form, int64_t tiles_w);

/// What is done to an output value last; of the activations only none, relu and leaky_relu.
struct WinogradFinish {
  float bias;
  Activation activation;
  float slope;
};

/// y is one plane [h][w], which the tiles may overhang.
void winograd_output(const WinogradForm& form, const WinogradTiles& tiles, const float* in,
                     const WinogradFinish& last, float* y, int64_t h, int64_t w);

/// The elements of `count` filters, `filter_stride` floats apart: element e of filter i goes to
/// out[e * element_stride + i]. Turned filters are read backwards.
void winograd_filters(const WinogradForm& form, const float* filters, int64_t count,
                      int64_t filter_stride, bool turned, float* out, int64_t element_stride);

}  // namespace kaiseki::conv
