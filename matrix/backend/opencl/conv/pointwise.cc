// SPDX-License-Identifier: MIT
// Filters of one element as plain matrix products, without columns.
#include <algorithm>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/backend/operations/reduce.h"

namespace kaiseki::opencl {
namespace {

class PointwiseSolver : public DirectedConvSolver {
 public:
  std::string_view name() const override { return "opencl_pointwise"; }

  bool applicable(const ConvProblem& p) const override {
    constexpr std::array<int64_t, 2> kOne{1, 1}, kNone{0, 0};
    return p.r == 1 && p.s == 1 && p.stride == kOne && p.padding == kNone &&
           p.extra_padding == kNone && p.groups == 1 && p.n > 0;
  }

  /// The gradients of single images, if they are small. They are added at the end.
  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return adds_images(p) ? static_cast<uint64_t>(p.n * p.k * p.c) * sizeof(float) : 0;
  }

 private:
  static bool adds_images(const ConvProblem& p) {
    const int64_t most = std::min<int64_t>(p.n * p.h * p.w * (p.c + p.k), int64_t{16} << 20);
    return p.direction == ConvDirection::backward_filter && p.n > 1 && p.n * p.k * p.c <= most;
  }

  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t pixels = p.h * p.w;
    GemmArgs g{.m = p.k, .n = pixels, .k = p.c, .batch = p.n};
    g.a = args.filter, g.b = args.x, g.c = args.y;
    g.lda = p.c, g.ldb = g.ldc = pixels;
    g.stride_b = p.c * pixels, g.stride_c = p.k * pixels;
    g.bias = args.bias;
    g.bias_kind = args.bias ? GemmArgs::Bias::per_row : GemmArgs::Bias::none;
    g.activation = args.activation, g.slope = args.slope;
    backend_of(args).run(kGemm, g);
  }

  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t pixels = p.h * p.w;
    GemmArgs g{.trans_a = true, .m = p.c, .n = pixels, .k = p.k, .batch = p.n};
    g.a = args.filter, g.b = args.y, g.c = args.x;
    g.lda = p.c, g.ldb = g.ldc = pixels;
    g.stride_b = p.k * pixels, g.stride_c = p.c * pixels;
    backend_of(args).run(kGemm, g);
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t pixels = p.h * p.w, size = p.k * p.c;
    GemmArgs g{.trans_b = true, .m = p.k, .n = p.c, .k = pixels};
    g.lda = g.ldb = pixels, g.ldc = p.c;
    if (!adds_images(p)) {
      g.c = args.filter;
      for (int64_t image = 0; image < p.n; ++image) {
        const Tensor dy = args.y->slice(0, image, 1), x = args.x->slice(0, image, 1);
        g.a = &dy, g.b = &x;
        g.beta = image == 0 ? args.beta : 1.0f;
        backend_of(args).run(kGemm, g);
      }
      return;
    }
    Tensor parts = workspace_part(args, 0, p.n * size);
    g.batch = p.n;
    g.a = args.y, g.b = args.x, g.c = &parts;
    g.stride_a = p.k * pixels, g.stride_b = p.c * pixels, g.stride_c = size;
    backend_of(args).run(kGemm, g);
    backend_of(args).run(kReduce, {.kind = Reduction::sum,
                                   .input = &parts,
                                   .shape = {p.n, size},
                                   .reduced = {true},
                                   .output = args.filter,
                                   .beta = args.beta});
  }
};

}  // namespace

const ConvSolver& conv_pointwise_solver() {
  static const PointwiseSolver solver;
  return solver;
}

}  // namespace kaiseki::opencl
