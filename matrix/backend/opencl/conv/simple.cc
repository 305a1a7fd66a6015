// SPDX-License-Identifier: MIT
// Convolution with one work-item per result (cl_kernels/conv_simple.cl).
#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

class SimpleSolver : public DirectedConvSolver {
 public:
  std::string_view name() const override { return "opencl_simple"; }
  bool applicable(const ConvProblem&) const override { return true; }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

 private:
  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t total = p.n * p.k * p.out_h() * p.out_w();
    start(p, args, "conv_forward", total)
        .arg(args.slope)
        .in(*args.x)
        .in(*args.filter)
        .optional(args.bias)
        .out(*args.y)
        .over(total);
  }

  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t total = p.n * p.c * p.h * p.w;
    start(p, args, "conv_backward_data", total)
        .in(*args.y)
        .in(*args.filter)
        .out(*args.x)
        .over(total);
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t total = p.k * (p.c / p.groups) * p.r * p.s;
    start(p, args, "conv_backward_filter", total)
        .arg(args.beta)
        .in(*args.x)
        .in(*args.y)
        .in_out(*args.filter)
        .over(total);
  }

  static Launch start(const ConvProblem& p, const ConvArgs& args, std::string_view kernel,
                      int64_t total) {
    Launch launch(backend_of(args).opencl(), "conv_simple.cl", kernel,
                  window_options(p) + define("BIAS", args.bias != nullptr) +
                      define("ACTIVATION", static_cast<int>(args.activation)));
    launch.index(total);
    for (int64_t value :
         {p.n, p.groups, p.k / p.groups, p.c / p.groups, p.h, p.w, p.out_h(), p.out_w()})
      launch.arg(static_cast<int32_t>(value));
    return launch;
  }
};

}  // namespace

const ConvSolver& conv_simple_solver() {
  static const SimpleSolver solver;
  return solver;
}

}  // namespace kaiseki::opencl
