// SPDX-License-Identifier: MIT
// Convolution by the fast Fourier transform in tiles of 16x16 or 32x32 that overlap, for filters
// from 5x5: a product of channels for each frequency. All three directions; stride and dilation 1.
// Off by up to 4e-7 of the largest value, as seen in tests; as with Winograd, errors are relative
// to the largest values of a tile, and a NaN or an infinity reaches the whole tile.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

/// What a transform costs pays from so many taps on; spectra take more workspace than other
/// solvers.
constexpr int64_t kLeastFftTaps = 25;
constexpr uint64_t kMostFftWorkspace = uint64_t{1} << 30;

/// Whether tiles of this size serve it, on any device: the filter fits twice, nothing is skipped.
inline bool fft_serves(int64_t size, const ConvProblem& p) {
  constexpr std::array<int64_t, 2> kOne{1, 1};
  return p.stride == kOne && p.dilation == kOne && p.r * p.s >= kLeastFftTaps &&
         2 * std::max(p.r, p.s) <= size;
}

/// In the order in which they are to be tried.
std::span<const ConvSolver* const> fft_solvers();

}  // namespace kaiseki
