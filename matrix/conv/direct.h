// SPDX-License-Identifier: MIT
// Direct convolution in plain loops, all directions, no workspace: what every other solver can be
// measured and checked against.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& direct_solver();

}  // namespace kaiseki
