// SPDX-License-Identifier: MIT
// Winograd's minimal filtering F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3): a fourth, 0.36 and 0.44 of
// the multiplications. Stride and dilation 1. A tile's outputs, or a filter's gradients, are mixed
// from all its inputs: its errors are relative to the largest of them, and a NaN, an infinity or a
// value beyond 1e36 reaches the whole tile.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

/// In the order in which they are to be tried.
std::span<const ConvSolver* const> winograd_solvers();

}  // namespace kaiseki
