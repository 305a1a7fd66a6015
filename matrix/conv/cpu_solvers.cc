// SPDX-License-Identifier: MIT
#include "matrix/conv/cpu_solvers.h"

#include <vector>

#include "matrix/conv/depthwise.h"
#include "matrix/conv/direct.h"
#include "matrix/conv/dot_filter.h"
#include "matrix/conv/fft.h"
#include "matrix/conv/im2col.h"
#include "matrix/conv/implicit_gemm.h"
#include "matrix/conv/outer_filter.h"
#include "matrix/conv/pointwise.h"
#include "matrix/conv/scatter_gemm.h"
#include "matrix/conv/strided_winograd.h"
#include "matrix/conv/winograd.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers() {
  static const auto solvers = [] {
    const auto fast = winograd_solvers();
    std::vector<const ConvSolver*> all(fast.begin(), fast.end());
    all.insert(all.end(), {&depthwise_solver(), &pointwise_solver(), &pointwise_filter_solver(),
                           &strided_winograd_solver(), &scatter_gemm_solver(),
                           &implicit_gemm_solver(), &outer_filter_solver(), &dot_filter_solver(),
                           &im2col_solver(), &im2col_sliced_solver(), &direct_solver()});
    const auto spectral = fft_solvers();
    all.insert(all.end(), spectral.begin(), spectral.end());
    return all;
  }();
  return solvers;
}

}  // namespace kaiseki
