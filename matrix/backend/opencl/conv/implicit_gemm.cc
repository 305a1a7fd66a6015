// SPDX-License-Identifier: MIT
// Convolution as one matrix product that reads its factors in place. Made for GPUs
// (cl_kernels/conv_implicit_gemm.cl).
#include <algorithm>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

/// Uses half tiles if a dimension would leave most of a whole tile empty.
constexpr int64_t kTile = 64, kSmallTile = 32;
constexpr int64_t kLeastChannels = 16;  // per group on CPUs, where empty parts of a tile cost time

class ImplicitGemmSolver : public ConvSolver {
 public:
  explicit ImplicitGemmSolver(Style style) : style_(style) {}
  std::string_view name() const override { return "opencl_implicit_gemm"; }
  bool applicable(const ConvProblem& p) const override {
    return style_ == Style::gpu || std::min(p.k, p.c) / p.groups >= kLeastChannels;
  }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t k = p.k / p.groups, c = p.c / p.groups, taps = p.r * p.s;
    const int64_t pixels = p.n * p.out_h() * p.out_w();
    switch (p.direction) {
      case ConvDirection::forward:
        return multiply(p, args, {k, pixels, c * taps}, *args.filter, *args.x, *args.y);
      case ConvDirection::backward_data:
        return multiply(p, args, {c, p.n * p.h * p.w, k * taps}, *args.filter, *args.y, *args.x);
      case ConvDirection::backward_filter:
        return multiply(p, args, {k, c * taps, pixels}, *args.y, *args.x, *args.filter);
    }
  }

 private:
  struct Size {
    int64_t m, n, depth;
  };

  static void multiply(const ConvProblem& p, const ConvArgs& args, const Size& size,
                       const Tensor& left, const Tensor& right, Tensor& to) {
    const int64_t tile = std::min(size.m, size.n) <= kSmallTile ? kSmallTile : kTile;
    const auto tiles = [&](int64_t n) { return static_cast<size_t>((n + tile - 1) / tile); };
    const bool forward = p.direction == ConvDirection::forward;
    const auto activation = static_cast<int>(forward ? args.activation : Activation::none);
    Launch launch(backend_of(args).opencl(), "conv_implicit_gemm.cl", "conv_implicit_gemm",
                  window_options(p) + define("DIRECTION", static_cast<int>(p.direction)) +
                      define("TILE", tile) + define("BIAS", forward && args.bias) +
                      define("ACTIVATION", activation));
    launch.index(size.m).index(size.n).index(size.depth);
    for (int64_t value : {p.groups, p.k / p.groups, p.c / p.groups, p.h, p.w, p.out_h(), p.out_w()})
      launch.arg(static_cast<int32_t>(value));
    launch.arg(args.beta)
        .arg(args.slope)
        .in(left)
        .in(right)
        .optional(forward ? args.bias : nullptr);
    args.beta == 0 ? launch.out(to) : launch.in_out(to);
    launch.over_groups({tiles(size.n), tiles(size.m), static_cast<size_t>(p.groups)}, {16, 16, 1});
  }

  Style style_;
};

}  // namespace

const ConvSolver& conv_implicit_gemm_solver(Style style) {
  static const ImplicitGemmSolver cpu(Style::cpu), gpu(Style::gpu);
  return style == Style::cpu ? cpu : gpu;
}

}  // namespace kaiseki::opencl
