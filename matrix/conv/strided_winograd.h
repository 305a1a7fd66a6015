// SPDX-License-Identifier: MIT
// Filters of two to three strides, such as 11x11 with stride 4: a convolution of the phases of the
// input with filters of 3x3 and no stride, by Winograd's F(4x4, 3x3). CPU, all directions.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& strided_winograd_solver();

}  // namespace kaiseki
