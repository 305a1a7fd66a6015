// SPDX-License-Identifier: MIT
// The convolution solvers of OpenCL devices.
#pragma once

#include <span>
#include <string>

#include "matrix/backend/opencl/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki::opencl {

/// F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3) in slices of tiles, all directions.
std::span<const ConvSolver* const> conv_winograd_solvers(Style style);
/// Filters of one element, stride 1: a product for each image.
const ConvSolver& conv_pointwise_solver();
/// One input channel a group, for CPUs; for GPUs the gradient of the filter.
const ConvSolver& conv_depthwise_solver(Style style);
/// Stride 1, for CPUs: rows of pixels in vectors, no im2col.
const ConvSolver& conv_direct_solver();
const ConvSolver& conv_direct_filter_solver();
/// Every problem of few groups: columns in slices of some images or rows, then GEMM. Slices of
/// about 64 MB, for GPUs, and of 1 MB, for caches and small workspaces.
const ConvSolver& conv_im2col_solver();
const ConvSolver& conv_im2col_sliced_solver();
/// A product without columns in memory: every problem on GPUs, on CPUs those of channels enough.
const ConvSolver& conv_implicit_gemm_solver(Style style);
/// Filters from 5 x 5, by Fourier transforms in slices of tiles, all directions.
std::span<const ConvSolver* const> conv_fft_solvers(Style style);
/// Every problem, one work-item a result.
const ConvSolver& conv_simple_solver();

/// For each style of device, the one to prefer first.
std::span<const ConvSolver* const> conv_solvers(Style style);

/// The backend on which the tensors of a convolution lie.
OpenclBackend& backend_of(const ConvArgs& args);

/// Defines R, S, STRIDE_H/W, PAD_H/W and DILATION_H/W.
std::string window_options(const ConvProblem& problem);

/// Copies `planes` planes [h, w] with zeros around them: `pad` rows and columns before, and as many
/// after as rows of `width` and planes of `plane` elements need.
struct Padding {
  int64_t planes, h, w, pad_h, pad_w, width, plane;
};
void pad_planes(OpenclDevice& device, const Padding& padding, const Tensor& from, Tensor& to);

/// Whether planes with their padding are not so much larger than without it that they should not be
/// copied.
bool little_padding(const ConvProblem& problem);

/// A part of a workspace as a tensor of floats.
Tensor workspace_part(const ConvArgs& args, int64_t first, int64_t count);

}  // namespace kaiseki::opencl
