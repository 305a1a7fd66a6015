// SPDX-License-Identifier: MIT
// Winograd's minimal filtering F(4x4, 3x3): a quarter of the multiplications. Forward and
// backward-data; filters of 3x3, stride and dilation 1, one group.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& winograd_solver();

}  // namespace kaiseki
