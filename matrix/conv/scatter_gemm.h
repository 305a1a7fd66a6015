// SPDX-License-Identifier: MIT
// Scatter GEMM: backward-data as the transpose of implicit GEMM. Products of dy with the filter are
// added to the packed form of dx straight from the registers, and that is then unpacked. No product
// with padding is computed, which pays where the filter is large beside the output.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& scatter_gemm_solver();

}  // namespace kaiseki
