// SPDX-License-Identifier: MIT
// Winograd's minimal filtering F(4x4, 3x3): a quarter of the multiplications. Forward and
// backward-data; filters of 3x3, stride and dilation 1, one group. A tile's 16 outputs are mixed
// from all its 36 inputs: its errors are relative to the largest of them, and a NaN, an infinity or
// a value beyond 1e36 reaches the whole tile.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& winograd_solver();

}  // namespace kaiseki
