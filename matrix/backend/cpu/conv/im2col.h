// SPDX-License-Identifier: MIT
// im2col and a matrix product, all directions, with any stride, padding, dilation and groups. One
// solver stores the columns of the whole batch in the workspace. The other needs no workspace. It
// takes some output rows and channels of a sample at a time, in a small buffer of each thread.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& im2col_solver();
const ConvSolver& im2col_sliced_solver();

}  // namespace kaiseki
