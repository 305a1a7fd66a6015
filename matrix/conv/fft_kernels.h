// SPDX-License-Identifier: MIT
// Two-dimensional real Fourier transforms of small square tiles, kFftLanes planes at a time, one in
// each lane: Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series"
// (1965), radix 2. Rows of a spectrum are in bit-reversed order: products do not mind.
#pragma once

#include <cstdint>

namespace kaiseki::conv {

constexpr int64_t kFftLanes = 16;

/// Columns 0..size/2 of a spectrum have all that is known of a real tile.
constexpr int64_t fft_elements(int64_t size) { return (size / 2 + 1) * size; }
constexpr int64_t fft_tile_floats(int64_t size) { return size * size * kFftLanes; }
constexpr int64_t fft_scratch_floats(int64_t size) { return 2 * fft_elements(size) * kFftLanes; }

/// tile [size][size][lanes], of which rows from `rows` on are taken for zeros. Real and imaginary
/// part of element e go to re[e * stride] and im[e * stride], kFftLanes floats each.
void fft_forward(int64_t size, int64_t rows, const float* tile, float* re, float* im,
                 int64_t stride, float* scratch);
/// Back, without the division by size * size: tile [size][size][lanes], whose lanes are `count`
/// planes. Of the lanes of re and im only `count` are read.
void fft_inverse(int64_t size, int64_t count, const float* re, const float* im, int64_t stride,
                 float* tile, float* scratch);

}  // namespace kaiseki::conv
