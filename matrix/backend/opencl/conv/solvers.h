// SPDX-License-Identifier: MIT
// The convolution solvers of OpenCL devices.
#pragma once

#include <span>
#include <string>

#include "matrix/backend/opencl/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki::opencl {

/// F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3) in slices of tiles. All directions.
std::span<const ConvSolver* const> conv_winograd_solvers(Style style);
/// Filters of one element, stride 1: one product per image.
const ConvSolver& conv_pointwise_solver();
/// Groups of one input channel. All directions on CPUs, the filter's gradient on GPUs.
const ConvSolver& conv_depthwise_solver(Style style);
/// Stride 1, for CPUs: vectors of pixels in a row, no im2col.
const ConvSolver& conv_direct_solver();
const ConvSolver& conv_direct_filter_solver();
/// Any problem with few groups: columns in slices of some images or rows, then GEMM. The first
/// solver uses slices of about 64 MB, for GPUs. The second uses slices of 1 MB, for caches and
/// small workspaces.
const ConvSolver& conv_im2col_solver();
const ConvSolver& conv_im2col_sliced_solver();
/// A matrix product without columns in memory. On GPUs any problem, with small and with large
/// tiles. On CPUs only problems with enough channels.
std::span<const ConvSolver* const> conv_implicit_gemm_solvers(Style style);
/// Filters from 5 x 5, by Fourier transforms in slices of tiles. All directions.
std::span<const ConvSolver* const> conv_fft_solvers(Style style);
/// Any problem, with one work-item per result.
const ConvSolver& conv_simple_solver();

/// The solvers for a style of device, ordered by preference.
std::span<const ConvSolver* const> conv_solvers(Style style);

/// The backend of a convolution's tensors.
OpenclBackend& backend_of(const ConvArgs& args);

/// Defines R, S, STRIDE_H/W, PAD_H/W and DILATION_H/W.
std::string window_options(const ConvProblem& problem);

/// Copies `planes` planes [h, w] with zeros around them. There are `pad_h` rows and `pad_w` columns
/// of zeros before each plane. The zeros after it fill rows of `width` and planes of `plane`
/// elements.
struct Padding {
  int64_t planes, h, w, pad_h, pad_w, width, plane;
};
void pad_planes(OpenclDevice& device, const Padding& padding, const Tensor& from, Tensor& to);

/// Returns whether padding enlarges the planes so little that a solver with padded copies is
/// useful.
bool little_padding(const ConvProblem& problem);

/// A part of a workspace as a tensor of floats.
Tensor workspace_part(const ConvArgs& args, int64_t first, int64_t count);

}  // namespace kaiseki::opencl
