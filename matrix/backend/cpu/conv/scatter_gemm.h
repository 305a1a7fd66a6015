// SPDX-License-Identifier: MIT
// Scatter GEMM: backward-data as the transpose of implicit GEMM. Products of dy and the filter are
// added to the packed form of dx directly from registers. The packed form is then unpacked. No
// product with padding is computed. This is faster if the filter is large compared to the output.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& scatter_gemm_solver();

}  // namespace kaiseki
