// SPDX-License-Identifier: MIT
// Convolution by the fast Fourier transform in tiles of 16x16 or 32x32 that overlap, for filters
// from 5x5: a product of channels for each frequency. Forward and backward-data; stride and
// dilation 1. Off by up to 3e-7 of the largest value, as seen in tests; as with Winograd, errors
// are relative to the largest values of a tile, and a NaN or an infinity reaches the whole tile.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

/// In the order in which they are to be tried.
std::span<const ConvSolver* const> fft_solvers();

}  // namespace kaiseki
