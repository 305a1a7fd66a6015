// SPDX-License-Identifier: MIT
// Convolution by the fast Fourier transform in overlapping tiles of 16x16 or 32x32, for filters
// from 5x5. Each frequency is a matrix product over channels. All three directions; stride and
// dilation 1. In tests the error is at most 4e-7 of the largest value. Like Winograd's, errors are
// relative to the largest values of a tile. A NaN or an infinity affects the whole tile.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

/// Ordered by preference.
std::span<const ConvSolver* const> fft_solvers();

}  // namespace kaiseki
