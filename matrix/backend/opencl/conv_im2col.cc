// SPDX-License-Identifier: MIT
// Convolution as matrix products: columns of a slice of the batch that fits the workspace, then one
// product for each image and group.
#include <algorithm>

#include "matrix/backend/opencl/conv.h"
#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kSliceFloats = int64_t{16} << 20;  // of columns at once

struct Sizes {
  int64_t k, c, depth, pixels;  // channels of a group; rows and columns of an image's matrix
  int64_t images;               // of a slice
};

Sizes sizes_of(const ConvProblem& p) {
  Sizes s;
  s.k = p.k / p.groups;
  s.c = p.c / p.groups;
  s.depth = s.c * p.r * p.s;
  s.pixels = p.out_h() * p.out_w();
  int64_t each = s.depth * s.pixels;
  if (p.direction == ConvDirection::backward_filter) each += s.k * s.depth;
  s.images = std::clamp<int64_t>(kSliceFloats / std::max<int64_t>(1, each), 1, p.n);
  return s;
}

/// A group's channels of some images, from `first` on.
Tensor part(const Tensor& t, int64_t first, int64_t count) {
  return t.reshape(Shape{t.size()}).slice(0, first, count);
}

class Im2colSolver : public ConvSolver {
 public:
  std::string_view name() const override { return "opencl_im2col"; }

  bool applicable(const ConvProblem& p) const override {
    return p.groups <= 4 || p.k / p.groups >= 16;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    Sizes s = sizes_of(p);
    int64_t floats = s.images * s.depth * s.pixels;
    if (p.direction == ConvDirection::backward_filter) floats += s.images * s.k * s.depth;
    return static_cast<uint64_t>(floats) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    Sizes s = sizes_of(p);
    for (int64_t first = 0; first < p.n; first += s.images)
      for (int64_t group = 0; group < p.groups; ++group) {
        Slice slice{p, s, args, first, std::min(s.images, p.n - first), group};
        switch (p.direction) {
          case ConvDirection::forward:
            forward(slice);
            break;
          case ConvDirection::backward_data:
            backward_data(slice);
            break;
          case ConvDirection::backward_filter:
            backward_filter(slice);
            break;
        }
      }
  }

 private:
  struct Slice {
    const ConvProblem& p;
    const Sizes& s;
    const ConvArgs& args;
    int64_t first, images, group;

    Tensor columns() const { return workspace_part(args, 0, images * s.depth * s.pixels); }
    Tensor x() const {
      int64_t plane = p.h * p.w, begin = (first * p.c + group * s.c) * plane;
      return part(*args.x, begin, ((images - 1) * p.c + s.c) * plane);
    }
    Tensor y() const {
      int64_t begin = (first * p.k + group * s.k) * s.pixels;
      return part(*args.y, begin, ((images - 1) * p.k + s.k) * s.pixels);
    }
    Tensor filter() const { return part(*args.filter, group * s.k * s.depth, s.k * s.depth); }
  };

  static void im2col(const Slice& slice, Tensor& columns) {
    const ConvProblem& p = slice.p;
    Launch(backend_of(slice.args).opencl(), "conv_im2col.cl", "im2col", window_options(p))
        .index(slice.s.pixels)
        .arg(static_cast<int32_t>(slice.s.c))
        .arg(static_cast<int32_t>(p.h))
        .arg(static_cast<int32_t>(p.w))
        .arg(static_cast<int32_t>(p.out_w()))
        .index(p.c * p.h * p.w)
        .in(slice.x())
        .out(columns)
        .over(slice.s.pixels, slice.images * slice.s.depth);
  }

  static void forward(const Slice& slice) {
    Tensor columns = slice.columns(), y = slice.y(), filter = slice.filter(), bias;
    im2col(slice, columns);
    GemmArgs g{.m = slice.s.k, .n = slice.s.pixels, .k = slice.s.depth, .batch = slice.images};
    g.a = &filter;
    g.b = &columns;
    g.c = &y;
    g.lda = g.k;
    g.ldb = g.ldc = g.n;
    g.stride_b = slice.s.depth * slice.s.pixels;
    g.stride_c = slice.p.k * slice.s.pixels;
    if (slice.args.bias) {
      bias = part(*slice.args.bias, slice.group * slice.s.k, slice.s.k);
      g.bias = &bias;
      g.bias_kind = GemmArgs::Bias::per_row;
    }
    g.activation = slice.args.activation;
    g.slope = slice.args.slope;
    backend_of(slice.args).gemm(g);
  }

  static void backward_data(const Slice& slice) {
    const ConvProblem& p = slice.p;
    Tensor columns = slice.columns(), dy = slice.y(), filter = slice.filter(), dx = slice.x();
    GemmArgs g{.trans_a = true,
               .m = slice.s.depth,
               .n = slice.s.pixels,
               .k = slice.s.k,
               .batch = slice.images};
    g.a = &filter;
    g.b = &dy;
    g.c = &columns;
    g.lda = g.m;
    g.ldb = g.ldc = g.n;
    g.stride_b = p.k * slice.s.pixels;
    g.stride_c = slice.s.depth * slice.s.pixels;
    backend_of(slice.args).gemm(g);
    int64_t total = slice.images * slice.s.c * p.h * p.w;
    Launch(backend_of(slice.args).opencl(), "conv_im2col.cl", "col2im", window_options(p))
        .index(total)
        .arg(static_cast<int32_t>(slice.s.c))
        .arg(static_cast<int32_t>(p.h))
        .arg(static_cast<int32_t>(p.w))
        .arg(static_cast<int32_t>(p.out_h()))
        .arg(static_cast<int32_t>(p.out_w()))
        .index(p.c * p.h * p.w)
        .in(columns)
        .in_out(dx)
        .over(total);
  }

  static void backward_filter(const Slice& slice) {
    OpenclBackend& backend = backend_of(slice.args);
    Tensor columns = slice.columns(), dy = slice.y(), filter = slice.filter();
    int64_t size = slice.s.k * slice.s.depth;
    Tensor parts = workspace_part(slice.args, columns.size(), slice.images * size);
    im2col(slice, columns);
    GemmArgs g{.trans_b = true,
               .m = slice.s.k,
               .n = slice.s.depth,
               .k = slice.s.pixels,
               .batch = slice.images};
    g.a = &dy;
    g.b = &columns;
    g.c = &parts;
    g.lda = g.ldb = g.k;
    g.ldc = g.n;
    g.stride_a = slice.p.k * slice.s.pixels;
    g.stride_b = slice.s.depth * slice.s.pixels;
    g.stride_c = size;
    backend.gemm(g);
    ReduceArgs sum{.kind = Reduction::sum,
                   .input = &parts,
                   .shape = {slice.images, size},
                   .reduced = {true},
                   .output = &filter,
                   .beta = slice.first == 0 ? slice.args.beta : 1.0f};
    backend.reduce(sum);
  }
};

}  // namespace

const ConvSolver& conv_im2col_solver() {
  static const Im2colSolver solver;
  return solver;
}

}  // namespace kaiseki::opencl
