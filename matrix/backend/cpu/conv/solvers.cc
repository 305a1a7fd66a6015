// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/solvers.h"

#include <vector>

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers() {
  static const auto solvers = [] {
    const auto fast = winograd_solvers();
    std::vector<const ConvSolver*> all(fast.begin(), fast.end());
    all.insert(all.end(), {&depthwise_solver(), &pointwise_solver(), &pointwise_filter_solver(),
                           &strided_winograd_solver(), &scatter_gemm_solver(),
                           &implicit_gemm_solver(), &outer_filter_solver(), &dot_filter_solver(),
                           &im2col_solver(), &im2col_sliced_solver()});
    const auto spectral = fft_solvers();
    all.insert(all.end(), spectral.begin(), spectral.end());
    return all;
  }();
  return solvers;
}

}  // namespace kaiseki
