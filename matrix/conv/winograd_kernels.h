// SPDX-License-Identifier: MIT
// The transforms of Winograd's minimal filtering F(4x4, 3x3): Lavin and Gray, "Fast algorithms for
// convolutional neural networks" (2015), section 4. A tile is 6x6 of the input and gives 4x4 of the
// output; in between it has 36 elements, each of which is a matrix product of its own.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

constexpr int64_t kWinogradElements = 36;
/// Floats behind the last value of an element: the transforms write and read whole vectors.
constexpr int64_t kWinogradSlack = 16;

/// Tiles of one plane: rows of tiles tile_row..tile_row + tile_rows, tiles_w in each, the next tile
/// four pixels on. Value (element e, tile t) is at e * element_stride + t.
struct WinogradTiles {
  int64_t tile_row, tile_rows, tiles_w;
  int64_t element_stride;
};

/// x is one plane [h][w]; what lies outside is 0. `rows` is scratch of winograd_row_floats().
/// Tiles have to be written in ascending order of their place in memory: up to 15 values behind the
/// last one of a row are overwritten.
void winograd_input(const WinogradTiles& tiles, const float* x, int64_t h, int64_t w, int64_t top,
                    int64_t left, float* rows, float* out);
int64_t winograd_row_floats(int64_t tiles_w);

/// What is done to an output value last; of the activations only none, relu and leaky_relu.
struct WinogradFinish {
  float bias;
  Activation activation;
  float slope;
};

/// y is one plane [h][w], which the tiles may overhang.
void winograd_output(const WinogradTiles& tiles, const float* in, const WinogradFinish& last,
                     float* y, int64_t h, int64_t w);

/// The 36 elements of `count` filters of 3x3, `filter_stride` floats apart: element e of filter i
/// goes to out[e * element_stride + i]. Turned filters are read backwards.
void winograd_filters(const float* filters, int64_t count, int64_t filter_stride, bool turned,
                      float* out, int64_t element_stride);

}  // namespace kaiseki::conv
