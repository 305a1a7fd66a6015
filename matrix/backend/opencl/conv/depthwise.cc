// SPDX-License-Identifier: MIT
// Depthwise convolution (cl_kernels/conv_depthwise.cl): each group has one input channel.
#include <algorithm>
#include <bit>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/rows.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kMostTaps = 49;  // taps of a filter in registers

Rows rows_of(const ConvProblem& p) {
  return {p.w, p.out_w(), p.stride[1], p.padding[1], p.s, p.dilation[1]};
}

/// On GPUs only the gradient of the filter. conv_simple.cl computes the other directions there.
class DepthwiseSolver : public DirectedConvSolver {
 public:
  explicit DepthwiseSolver(Style style) : style_(style) {}

  std::string_view name() const override { return "opencl_depthwise"; }

  bool applicable(const ConvProblem& p) const override {
    const bool serves = style_ == Style::cpu || p.direction == ConvDirection::backward_filter;
    return serves && p.groups == p.c && p.groups > 1 && p.k % p.groups == 0 &&
           p.r * p.s <= kMostTaps && fits_private_memory(rows_of(p));
  }

  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

 private:
  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    start(p, args, "depthwise_forward")
        .arg(static_cast<int32_t>(p.k))
        .arg(args.slope)
        .in(*args.x)
        .in(*args.filter)
        .optional(args.bias)
        .out(*args.y)
        .over_groups({static_cast<size_t>(p.n * p.k), 1, 1}, {1, 1, 1});
  }

  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    start(p, args, "depthwise_backward_data")
        .arg(static_cast<int32_t>(p.c))
        .in(*args.y)
        .in(*args.filter)
        .out(*args.x)
        .over_groups({static_cast<size_t>(p.n * p.c), 1, 1}, {1, 1, 1});
  }

  static std::string options(const ConvProblem& p, const ConvArgs& args) {
    return window_options(p) + define("MULTIPLIER", p.k / p.groups) + row_options(rows_of(p)) +
           define("BIAS", args.bias != nullptr) +
           define("ACTIVATION", static_cast<int>(args.activation));
  }

  static Launch sized(Launch launch, const ConvProblem& p) {
    for (int64_t size : {p.h, p.w, p.out_h(), p.out_w()}) launch.arg(static_cast<int32_t>(size));
    return launch;
  }

  static Launch start(const ConvProblem& p, const ConvArgs& args, std::string_view kernel) {
    return sized({backend_of(args).opencl(), "conv_depthwise.cl", kernel, options(p, args)}, p);
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    OpenclDevice& device = backend_of(args).opencl();
    size_t group = 1;
    if (style_ == Style::gpu)
      group = std::bit_floor(std::min<size_t>(128, device.facts().max_work_group));
    Launch launch =
        style_ == Style::cpu
            ? Launch(device, "conv_depthwise.cl", "depthwise_backward_filter", options(p, args))
            : Launch(device, "conv_depthwise_group.cl", "depthwise_backward_filter_group",
                     window_options(p) + define("MULTIPLIER", p.k / p.groups) +
                         define("GROUP", static_cast<int64_t>(group)));
    launch.arg(static_cast<int32_t>(p.n));
    sized(std::move(launch), p)
        .arg(static_cast<int32_t>(p.k))
        .arg(args.beta)
        .in(*args.x)
        .in(*args.y)
        .in_out(*args.filter)
        .over_groups({static_cast<size_t>(p.k), 1, 1}, {group, 1, 1});
  }

  Style style_;
};

}  // namespace

const ConvSolver& conv_depthwise_solver(Style style) {
  static const DepthwiseSolver cpu(Style::cpu), gpu(Style::gpu);
  return style == Style::cpu ? cpu : gpu;
}

}  // namespace kaiseki::opencl
