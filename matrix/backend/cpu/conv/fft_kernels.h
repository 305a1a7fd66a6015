// SPDX-License-Identifier: MIT
// Two-dimensional real Fourier transforms of small square tiles, radix 2: Cooley and Tukey, "An
// algorithm for the machine calculation of complex Fourier series" (1965). kFftLanes planes are
// transformed at a time, one per lane. Rows of a spectrum are in bit-reversed order; products do
// not depend on the order.
#pragma once

#include <cstdint>

namespace kaiseki::conv {

constexpr int64_t kFftLanes = 16;

/// Columns 0..size/2 of a spectrum define a real tile completely.
constexpr int64_t fft_elements(int64_t size) { return (size / 2 + 1) * size; }
constexpr int64_t fft_tile_floats(int64_t size) { return size * size * kFftLanes; }
constexpr int64_t fft_scratch_floats(int64_t size) { return 2 * fft_elements(size) * kFftLanes; }

/// Transforms tile [size][size][lanes]. Rows from `rows` on are taken as zeros. The real and
/// imaginary parts of element e are stored at re[e * stride] and im[e * stride], kFftLanes floats
/// each.
void fft_forward(int64_t size, int64_t rows, const float* tile, float* re, float* im,
                 int64_t stride, float* scratch);
/// The inverse, without the division by size * size. Writes tile [size][size][lanes] with `count`
/// planes in its lanes. Reads only the first `count` lanes of re and im.
void fft_inverse(int64_t size, int64_t count, const float* re, const float* im, int64_t stride,
                 float* tile, float* scratch);

}  // namespace kaiseki::conv
