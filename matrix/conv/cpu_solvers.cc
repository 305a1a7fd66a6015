// SPDX-License-Identifier: MIT
#include "matrix/conv/cpu_solvers.h"

#include "matrix/conv/direct.h"
#include "matrix/conv/implicit_gemm.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers() {
  static const ConvSolver* const solvers[] = {
      &implicit_gemm_solver(),
      &implicit_gemm_filter_solver(),
      &direct_solver(),
  };
  return solvers;
}

}  // namespace kaiseki
