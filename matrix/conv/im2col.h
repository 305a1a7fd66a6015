// SPDX-License-Identifier: MIT
// im2col and a matrix product, all directions; any stride, padding, dilation and groups. Whole: the
// columns of the batch are stored in the workspace. Sliced: some output rows and channels of a
// sample at a time, in a small buffer of each thread and without a workspace.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& im2col_solver();
const ConvSolver& im2col_sliced_solver();

}  // namespace kaiseki
