// SPDX-License-Identifier: MIT
// Convolution as matrix products. A slice has the columns of some images, or of some rows of one
// image. Each image and group of a slice is one product.
#include <algorithm>
#include <bit>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

// Limited because im2col and its transpose hold a row in private memory.
constexpr int64_t kLongestRow = 16384;

struct Sizes {
  int64_t k, c, depth, pixels;  // k, c: channels per group; depth x pixels: an image's matrix
  int64_t images, rows;         // of a slice: whole images, or output rows of one image

  int64_t slice_pixels() const { return images * rows * out_w; }
  /// The number of floats of single images' gradients, if these are small enough to be stored and
  /// added. Otherwise 0.
  int64_t parts(const ConvProblem& p) const {
    const bool keeps = p.direction == ConvDirection::backward_filter && images > 1 && k <= pixels;
    return keeps ? images * k * depth : 0;
  }
  int64_t out_w;
};

/// Makes slices of nearly equal size with about `most` floats of columns. A slice has at least
/// kLeastPixels pixels. For smaller slices, preparing the filter would take too much of the time.
Sizes sizes_of(const ConvProblem& p, int64_t most) {
  constexpr int64_t kLeastPixels = 256;
  Sizes s;
  s.k = p.k / p.groups;
  s.c = p.c / p.groups;
  s.depth = s.c * p.r * p.s;
  s.out_w = p.out_w();
  s.pixels = p.out_h() * s.out_w;
  const auto alike = [](int64_t all, int64_t fit) {
    const int64_t slices = ceil_div(all, fit);
    return ceil_div(all, slices);
  };
  const int64_t fit = std::max(most / std::max<int64_t>(1, s.depth), kLeastPixels);
  if (fit < s.pixels) {
    s.images = 1;
    s.rows = alike(p.out_h(), std::max<int64_t>(1, fit / s.out_w));
  } else {
    s.images = alike(std::max<int64_t>(1, p.n), fit / std::max<int64_t>(1, s.pixels));
    s.rows = p.out_h();
  }
  return s;
}

/// The channels of a group in some images, from `first` on.
Tensor part(const Tensor& t, int64_t first, int64_t count) {
  return t.reshape(Shape{t.size()}).slice(0, first, count);
}

Tensor rest(const Tensor& t, int64_t first) { return t.slice(0, first, t.size() - first); }

class Im2colSolver : public ConvSolver {
 public:
  Im2colSolver(std::string_view name, int64_t slice_floats)
      : name_(name), slice_floats_(slice_floats) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    return p.groups <= 4 || p.k / p.groups >= 16;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const Sizes s = sizes_of(p, slice_floats_);
    return static_cast<uint64_t>(s.depth * s.slice_pixels() + s.parts(p)) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const Sizes s = sizes_of(p, slice_floats_);
    for (int64_t first = 0; first < p.n; first += s.images)
      for (int64_t row = 0; row < p.out_h(); row += s.rows)
        for (int64_t group = 0; group < p.groups; ++group) {
          const Slice slice{p,
                            s,
                            args,
                            first,
                            row,
                            std::min(s.images, p.n - first),
                            std::min(s.rows, p.out_h() - row),
                            group};
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
    int64_t first, row, images, rows, group;

    int64_t pixels() const { return rows * s.out_w; }
    int64_t columns_stride() const { return s.depth * pixels(); }
    Tensor columns() const { return workspace_part(args, 0, images * columns_stride()); }
    Tensor x() const {
      int64_t plane = p.h * p.w, begin = (first * p.c + group * s.c) * plane;
      return part(*args.x, begin, ((images - 1) * p.c + s.c) * plane);
    }
    Tensor y() const {
      int64_t begin = (first * p.k + group * s.k) * s.pixels + row * s.out_w;
      return part(*args.y, begin, ((images - 1) * p.k + s.k - 1) * s.pixels + pixels());
    }
    Tensor filter() const { return part(*args.filter, group * s.k * s.depth, s.k * s.depth); }
  };

  /// On CPUs each work-item takes a row, in private memory.
  static bool by_rows(const Slice& slice) {
    return backend_of(slice.args).opencl().style() == Style::cpu &&
           slice.p.w + 2 * slice.p.stride[1] <= kLongestRow;
  }

  /// Launches either kernel, for each style of device.
  static Launch launch(const Slice& slice, const std::string& kernel) {
    const ConvProblem& p = slice.p;
    OpenclDevice& device = backend_of(slice.args).opencl();
    if (!by_rows(slice)) return {device, "conv_im2col.cl", kernel, window_options(p)};
    const auto halved = std::bit_ceil(static_cast<uint64_t>(p.w / p.stride[1] + 1));
    return {device, "conv_im2col_rows.cl", kernel + "_rows",
            window_options(p) + define("HALVED", static_cast<int64_t>(halved))};
  }

  static Launch& sizes(const Slice& slice, Launch& launch) {
    const ConvProblem& p = slice.p;
    return launch.arg(static_cast<int32_t>(slice.s.c))
        .arg(static_cast<int32_t>(p.h))
        .arg(static_cast<int32_t>(p.w))
        .arg(static_cast<int32_t>(slice.s.out_w))
        .index(p.c * p.h * p.w);
  }

  static void im2col(const Slice& slice, Tensor& columns) {
    const bool rows = by_rows(slice);
    const int64_t lines = slice.images * slice.s.depth;
    Launch launch = Im2colSolver::launch(slice, "im2col");
    if (!rows) launch.index(slice.pixels());
    launch.arg(static_cast<int32_t>(slice.row));
    if (rows) launch.arg(static_cast<int32_t>(slice.rows));
    sizes(slice, launch).in(slice.x()).out(columns);
    if (rows)
      launch.over_groups({static_cast<size_t>(lines), 1, 1}, {1, 1, 1});
    else
      launch.over(slice.pixels(), lines);
  }

  static void col2im(const Slice& slice, const Tensor& columns, Tensor& dx) {
    const bool rows = by_rows(slice);
    const int64_t planes = slice.images * slice.s.c, total = planes * slice.p.h * slice.p.w;
    Launch launch = Im2colSolver::launch(slice, "col2im");
    if (!rows) launch.index(total);
    launch.arg(static_cast<int32_t>(slice.row)).arg(static_cast<int32_t>(slice.rows));
    sizes(slice, launch).in(columns).in_out(dx);
    if (rows)
      launch.over_groups({static_cast<size_t>(planes), 1, 1}, {1, 1, 1});
    else
      launch.over(total);
  }

  static void forward(const Slice& slice) {
    Tensor columns = slice.columns(), y = slice.y(), filter = slice.filter(), bias;
    im2col(slice, columns);
    GemmArgs g{.m = slice.s.k, .n = slice.pixels(), .k = slice.s.depth, .batch = slice.images};
    g.a = &filter;
    g.b = &columns;
    g.c = &y;
    g.lda = g.k;
    g.ldb = g.n;
    g.ldc = slice.s.pixels;
    g.stride_b = slice.columns_stride();
    g.stride_c = slice.p.k * slice.s.pixels;
    if (slice.args.bias) {
      bias = part(*slice.args.bias, slice.group * slice.s.k, slice.s.k);
      g.bias = &bias;
      g.bias_kind = GemmArgs::Bias::per_row;
    }
    g.activation = slice.args.activation;
    g.slope = slice.args.slope;
    backend_of(slice.args).run(kGemm, g);
  }

  static void backward_data(const Slice& slice) {
    Tensor columns = slice.columns(), dy = slice.y(), filter = slice.filter(), dx = slice.x();
    GemmArgs g{.trans_a = true,
               .m = slice.s.depth,
               .n = slice.pixels(),
               .k = slice.s.k,
               .batch = slice.images};
    g.a = &filter;
    g.b = &dy;
    g.c = &columns;
    g.lda = g.m;
    g.ldb = slice.s.pixels;
    g.ldc = g.n;
    g.stride_b = slice.p.k * slice.s.pixels;
    g.stride_c = slice.columns_stride();
    backend_of(slice.args).run(kGemm, g);
    col2im(slice, columns, dx);
  }

  static void backward_filter(const Slice& slice) {
    OpenclBackend& backend = backend_of(slice.args);
    Tensor columns = slice.columns(), dy = slice.y(), filter = slice.filter();
    int64_t size = slice.s.k * slice.s.depth;
    const float beta = slice.first == 0 && slice.row == 0 ? slice.args.beta : 1.0f;
    im2col(slice, columns);
    GemmArgs g{.trans_b = true,
               .m = slice.s.k,
               .n = slice.s.depth,
               .k = slice.pixels(),
               .batch = slice.images};
    g.a = &dy;
    g.b = &columns;
    g.lda = slice.s.pixels;
    g.ldb = g.k;
    g.ldc = g.n;
    g.stride_a = slice.p.k * slice.s.pixels;
    g.stride_b = slice.columns_stride();
    g.stride_c = size;
    if (slice.s.parts(slice.p) == 0) {
      g.batch = 1;
      g.c = &filter;
      for (int64_t image = 0; image < slice.images; ++image) {
        const Tensor a = rest(dy, image * g.stride_a), b = rest(columns, image * g.stride_b);
        g.a = &a;
        g.b = &b;
        g.beta = image == 0 ? beta : 1.0f;
        backend.run(kGemm, g);
      }
      return;
    }
    Tensor parts = workspace_part(slice.args, columns.size(), slice.images * size);
    g.c = &parts;
    backend.run(kGemm, g);
    ReduceArgs sum{.kind = Reduction::sum,
                   .input = &parts,
                   .shape = {slice.images, size},
                   .reduced = {true},
                   .output = &filter,
                   .beta = beta};
    backend.run(kReduce, sum);
  }

  std::string_view name_;
  int64_t slice_floats_;
};

}  // namespace

const ConvSolver& conv_im2col_solver() {
  static const Im2colSolver solver("opencl_im2col", int64_t{16} << 20);
  return solver;
}

const ConvSolver& conv_im2col_sliced_solver() {
  static const Im2colSolver solver("opencl_im2col_sliced", int64_t{256} << 10);
  return solver;
}

}  // namespace kaiseki::opencl
