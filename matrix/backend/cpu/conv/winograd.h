// SPDX-License-Identifier: MIT
// Winograd's minimal filtering F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3): 0.25, 0.36 and 0.44 of the
// multiplications. Stride and dilation 1. The outputs of a tile, or its filter gradients, mix all
// inputs of the tile. Errors are therefore relative to the largest input. A NaN, an infinity or a
// value above 1e36 affects the whole tile.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

/// Ordered by preference.
std::span<const ConvSolver* const> winograd_solvers();

}  // namespace kaiseki
