// SPDX-License-Identifier: MIT
// The convolution solvers of the CPU backend, ordered by preference.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers();

/// F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3), ordered by preference. All directions.
std::span<const ConvSolver* const> winograd_solvers();
/// Groups of one input channel. All directions.
const ConvSolver& depthwise_solver();
/// Filters of one element without padding: forward and backward-data.
const ConvSolver& pointwise_solver();
const ConvSolver& pointwise_filter_solver();
/// Filters of two to three times the stride. All directions.
const ConvSolver& strided_winograd_solver();
/// Backward-data: products are added to dx directly.
const ConvSolver& scatter_gemm_solver();
/// Forward and backward-data without columns in memory.
const ConvSolver& implicit_gemm_solver();
/// Backward-filter: as a matrix product, and as dot products of rows.
const ConvSolver& outer_filter_solver();
const ConvSolver& dot_filter_solver();
/// Columns of the whole batch, and slices without workspace. All directions.
const ConvSolver& im2col_solver();
const ConvSolver& im2col_sliced_solver();
/// Filters from 5x5, ordered by preference. All directions.
std::span<const ConvSolver* const> fft_solvers();

}  // namespace kaiseki
