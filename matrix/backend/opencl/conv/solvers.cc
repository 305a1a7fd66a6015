// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/conv/solvers.h"

#include <algorithm>
#include <vector>

#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {

namespace {

std::vector<const ConvSolver*> make_list(Style style) {
  const auto winograd = conv_winograd_solvers(style);
  std::vector<const ConvSolver*> all(winograd.begin(), winograd.end());
  all.push_back(&conv_pointwise_solver());
  const auto implicit = conv_implicit_gemm_solvers(style);
  if (style == Style::cpu) {
    all.insert(all.end(),
               {&conv_direct_solver(), &conv_direct_filter_solver(), &conv_depthwise_solver(style),
                &conv_im2col_sliced_solver(), &conv_im2col_solver()});
    all.insert(all.end(), implicit.begin(), implicit.end());
  } else {
    all.push_back(&conv_depthwise_solver(style));
    all.insert(all.end(), implicit.begin(), implicit.end());
    all.insert(all.end(), {&conv_im2col_solver(), &conv_im2col_sliced_solver()});
  }
  const auto spectral = conv_fft_solvers(style);
  all.insert(all.end(), spectral.begin(), spectral.end());
  all.push_back(&conv_simple_solver());
  return all;
}

}  // namespace

std::span<const ConvSolver* const> conv_solvers(Style style) {
  static const auto cpu = make_list(Style::cpu), gpu = make_list(Style::gpu);
  return style == Style::cpu ? cpu : gpu;
}

std::span<const ConvSolver* const> OpenclBackend::conv_solvers() const {
  return opencl::conv_solvers(device_.style());
}

OpenclBackend& backend_of(const ConvArgs& args) {
  return static_cast<OpenclBackend&>(args.x->device().backend());
}

std::string window_options(const ConvProblem& p) {
  return define("R", p.r) + define("S", p.s) + define("STRIDE_H", p.stride[0]) +
         define("STRIDE_W", p.stride[1]) + define("PAD_H", p.padding[0]) +
         define("PAD_W", p.padding[1]) + define("DILATION_H", p.dilation[0]) +
         define("DILATION_W", p.dilation[1]);
}

void pad_planes(OpenclDevice& device, const Padding& p, const Tensor& from, Tensor& to) {
  Launch(device, "pad_planes.cl", "pad_planes",
         define("H", p.h) + define("W", p.w) + define("PAD_H", p.pad_h) + define("PAD_W", p.pad_w) +
             define("WP", p.width) + define("PS", p.plane))
      .index(p.planes)
      .in(from)
      .out(to)
      .over_groups({static_cast<size_t>(p.planes), 1, 1}, {1, 1, 1});
}

bool little_padding(const ConvProblem& p) {
  auto side = [&](int axis, int64_t in, int64_t out, int64_t filter) {
    return static_cast<double>(std::max(in, out) + p.dilation[axis] * (filter - 1));
  };
  const double padded = side(0, p.h, p.out_h(), p.r) * side(1, p.w, p.out_w(), p.s);
  return padded <= 16.0 * static_cast<double>(p.h * p.w + p.out_h() * p.out_w() + 256);
}

Tensor workspace_part(const ConvArgs& args, int64_t first, int64_t count) {
  return args.workspace->reinterpret(DType::f32).slice(0, first, count);
}

}  // namespace kaiseki::opencl
