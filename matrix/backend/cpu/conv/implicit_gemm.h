// SPDX-License-Identifier: MIT
// Implicit GEMM, forward and backward-data. The matrix of im2col is never stored. Blocks of input
// are packed while they are in the cache, once for each column of the filter. Any stride, padding,
// dilation and groups.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& implicit_gemm_solver();

}  // namespace kaiseki
