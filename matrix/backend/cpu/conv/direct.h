// SPDX-License-Identifier: MIT
// Direct convolution in plain loops, all directions, no workspace. It is the reference for the
// results and times of the other solvers.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& direct_solver();

}  // namespace kaiseki
