// SPDX-License-Identifier: MIT
// The convolutions that the fast Fourier transform in tiles supports on every device.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "matrix/conv/problem.h"

namespace kaiseki {

/// With fewer taps, the transforms cost more than they save. Spectra need more workspace than other
/// solvers, so it is limited.
constexpr int64_t kLeastFftTaps = 25;
constexpr uint64_t kMostFftWorkspace = uint64_t{1} << 30;

/// Returns whether tiles of this size support the problem on every device. Stride and dilation must
/// be 1, and the filter must fit the tile twice.
inline bool fft_supports(int64_t size, const ConvProblem& p) {
  constexpr std::array<int64_t, 2> kOne{1, 1};
  return p.stride == kOne && p.dilation == kOne && p.r * p.s >= kLeastFftTaps &&
         2 * std::max(p.r, p.s) <= size;
}

}  // namespace kaiseki
