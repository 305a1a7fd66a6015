// SPDX-License-Identifier: MIT
// Implicit GEMM, forward and backward-data: the matrix of im2col is never stored; blocks of input
// are packed while they are in the cache, and only once for each column of the filter. Any stride,
// padding, dilation and groups.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& implicit_gemm_solver();

}  // namespace kaiseki
