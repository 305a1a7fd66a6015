// SPDX-License-Identifier: MIT
// For filters of two to three times the stride, such as 11x11 with stride 4. Computes a convolution
// of the input's phases with 3x3 filters and stride 1, by Winograd's F(4x4, 3x3). CPU, all
// directions.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& strided_winograd_solver();

}  // namespace kaiseki
