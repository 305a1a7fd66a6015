// SPDX-License-Identifier: MIT
// im2col and a matrix product, all directions, with any stride, padding, dilation and groups. One
// solver stores the columns of the whole batch in the workspace. The other needs no workspace. It
// takes some output rows and channels of a sample at a time, in a small buffer of each thread.
#include <algorithm>

#include "matrix/backend/cpu/conv/columns.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

// Floats of a slice of columns, which fit an L2 cache with their product.
constexpr int64_t kSliceFloats = 96 * 1024;
constexpr int64_t kSliceDepth = 256;  // approximate number of rows in a slice of columns
constexpr uint64_t kMostWorkspace = uint64_t{1} << 30;
constexpr int64_t kFillFloats = 1 << 16;  // floats of a tensor that a task clears

/// The groups of one sample as matrices: filter [m][depth], columns [depth][plane], y [m][plane].
struct Matrices {
  const ConvProblem& p;
  int64_t m, channels, taps, depth, plane;
  explicit Matrices(const ConvProblem& problem)
      : p(problem),
        m(p.k / p.groups),
        channels(p.c / p.groups),
        taps(p.r * p.s),
        depth(channels * taps),
        plane(p.out_h() * p.out_w()) {}
  int64_t in_plane() const { return p.h * p.w; }
};

void clear(Tensor& tensor) {
  float* values = tensor.overwrite<float>();
  parallel_for(tensor.size(), kFillFloats,
               [&](int64_t begin, int64_t end) { std::fill(values + begin, values + end, 0.0f); });
}

class Im2col final : public ConvSolver {
 public:
  std::string_view name() const override { return "im2col"; }
  bool applicable(const ConvProblem& p) const override {
    return workspace_bytes(p) <= kMostWorkspace;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const Matrices t(p);
    return static_cast<uint64_t>(p.n * p.groups * t.depth * t.plane) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const Matrices t(p);
    auto* columns = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    if (p.direction != ConvDirection::backward_data) {
      const float* x = args.x->data<float>();
      each_channel(t, [&](int64_t channel) {
        conv::write_columns(p, x + channel * t.in_plane(), 1, 0, p.out_h(),
                            columns + channel * t.taps * t.plane);
      });
    }
    for (int64_t group = 0; group < p.groups; ++group) multiply(t, args, group, columns);
    if (p.direction != ConvDirection::backward_data) return;
    clear(*args.x);
    float* dx = args.x->mutable_data<float>();
    each_channel(t, [&](int64_t channel) {
      conv::add_columns(p, columns + channel * t.taps * t.plane, 1, 0, p.out_h(),
                        dx + channel * t.in_plane());
    });
  }

 private:
  template <typename F>
  static void each_channel(const Matrices& t, F f) {
    parallel_for(t.p.n * t.p.c, 1, [&](int64_t begin, int64_t end) {
      for (int64_t channel = begin; channel < end; ++channel) f(channel);
    });
  }

  static void multiply(const Matrices& t, const ConvArgs& args, int64_t group, float* columns) {
    const int64_t sample = t.p.groups * t.depth * t.plane, filter = group * t.m * t.depth;
    columns += group * t.depth * t.plane;
    cpu::Gemm g{.m = t.m, .n = t.plane, .k = t.depth, .batch = t.p.n};
    g.lda = t.depth, g.ldb = g.ldc = t.plane;
    g.stride_b = sample, g.stride_c = t.p.k * t.plane;
    switch (t.p.direction) {
      case ConvDirection::forward:
        g.a = args.filter->data<float>() + filter, g.b = columns;
        g.c = args.y->overwrite<float>() + group * t.m * t.plane;
        g.bias_row = args.bias ? args.bias->data<float>() + group * t.m : nullptr;
        g.activation = args.activation, g.slope = args.slope;
        return cpu::gemm(g);
      case ConvDirection::backward_data:
        g.trans_a = true, g.m = t.depth, g.k = t.m;
        g.a = args.filter->data<float>() + filter;
        g.b = args.y->data<float>() + group * t.m * t.plane, g.stride_b = t.p.k * t.plane;
        g.c = columns, g.stride_c = sample;
        return cpu::gemm(g);
      case ConvDirection::backward_filter:
        g.trans_b = true, g.n = t.depth, g.k = t.plane, g.batch = 1;
        g.a = args.y->data<float>() + group * t.m * t.plane, g.lda = t.plane;
        g.b = columns, g.ldb = t.plane, g.ldc = t.depth;
        g.c = (args.beta == 0 && group == 0 ? args.filter->overwrite<float>()
                                            : args.filter->mutable_data<float>()) +
              filter;
        g.beta = args.beta;
        for (int64_t n = 0; n < t.p.n; ++n, g.a += t.p.k * t.plane, g.b += sample, g.beta = 1)
          cpu::gemm(g);
        return;
    }
  }
};

/// A slice: some channels of a group and some output rows.
struct Slices {
  int64_t channels, rows;
  explicit Slices(const Matrices& t) {
    channels = std::clamp<int64_t>(kSliceDepth / t.taps, 1, t.channels);
    rows = std::clamp<int64_t>(kSliceFloats / (channels * t.taps * t.p.out_w()), 1, t.p.out_h());
  }
  int64_t row_count(const Matrices& t) const { return ceil_div(t.p.out_h(), rows); }
  int64_t channel_count(const Matrices& t) const { return ceil_div(t.channels, channels); }
  float* buffer(const Matrices& t) const {
    return conv::thread_scratch(0, channels * t.taps * rows * t.p.out_w());
  }
};

class Im2colSliced final : public DirectedConvSolver {
 public:
  std::string_view name() const override { return "im2col_sliced"; }
  bool applicable(const ConvProblem&) const override { return true; }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

 private:
  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    const Matrices t(p);
    const Slices slices(t);
    const float *x = args.x->data<float>(), *filter = args.filter->data<float>();
    const float* bias = args.bias ? args.bias->data<float>() : nullptr;
    float* y = args.y->overwrite<float>();
    const int64_t count = slices.row_count(t), out_w = t.p.out_w();
    parallel_for(t.p.n * t.p.groups * count, 1, [&](int64_t begin, int64_t end) {
      float* columns = slices.buffer(t);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t image_group = task / count, group = image_group % t.p.groups;
        const int64_t row = task % count * slices.rows;
        const int64_t rows = std::min(slices.rows, t.p.out_h() - row);
        for (int64_t c = 0; c < t.channels; c += slices.channels) {
          const int64_t channels = std::min(slices.channels, t.channels - c);
          conv::write_columns(t.p, x + (image_group * t.channels + c) * t.in_plane(), channels, row,
                              rows, columns);
          cpu::Gemm g{.m = t.m, .n = rows * out_w, .k = channels * t.taps};
          g.a = filter + group * t.m * t.depth + c * t.taps, g.lda = t.depth;
          g.b = columns, g.ldb = g.n;
          g.c = y + image_group * t.m * t.plane + row * out_w, g.ldc = t.plane;
          g.beta = c == 0 ? 0.0f : 1.0f;
          if (c + channels == t.channels) {
            g.bias_row = bias ? bias + group * t.m : nullptr;
            g.activation = args.activation, g.slope = args.slope;
          }
          cpu::gemm(g);
        }
      }
    });
  }

  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    const Matrices t(p);
    const Slices slices(t);
    const float *dy = args.y->data<float>(), *filter = args.filter->data<float>();
    clear(*args.x);
    float* dx = args.x->mutable_data<float>();
    const int64_t count = slices.channel_count(t), out_w = t.p.out_w();
    parallel_for(t.p.n * t.p.groups * count, 1, [&](int64_t begin, int64_t end) {
      float* columns = slices.buffer(t);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t image_group = task / count, c = task % count * slices.channels;
        const int64_t channels = std::min(slices.channels, t.channels - c);
        for (int64_t row = 0; row < t.p.out_h(); row += slices.rows) {
          const int64_t rows = std::min(slices.rows, t.p.out_h() - row);
          cpu::Gemm g{.trans_a = true, .m = channels * t.taps, .n = rows * out_w, .k = t.m};
          g.a = filter + image_group % t.p.groups * t.m * t.depth + c * t.taps, g.lda = t.depth;
          g.b = dy + image_group * t.m * t.plane + row * out_w, g.ldb = t.plane;
          g.c = columns, g.ldc = g.n;
          cpu::gemm(g);
          conv::add_columns(t.p, columns, channels, row, rows,
                            dx + (image_group * t.channels + c) * t.in_plane());
        }
      }
    });
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    const Matrices t(p);
    const Slices slices(t);
    const float *x = args.x->data<float>(), *dy = args.y->data<float>();
    float* filter =
        args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
    const int64_t count = slices.channel_count(t), out_w = t.p.out_w();
    parallel_for(t.p.groups * count, 1, [&](int64_t begin, int64_t end) {
      float* columns = slices.buffer(t);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t group = task / count, c = task % count * slices.channels;
        const int64_t channels = std::min(slices.channels, t.channels - c);
        float beta = args.beta;
        for (int64_t image = 0; image < t.p.n; ++image)
          for (int64_t row = 0; row < t.p.out_h(); row += slices.rows, beta = 1) {
            const int64_t rows = std::min(slices.rows, t.p.out_h() - row);
            const int64_t image_group = image * t.p.groups + group;
            conv::write_columns(t.p, x + (image_group * t.channels + c) * t.in_plane(), channels,
                                row, rows, columns);
            cpu::Gemm g{.trans_b = true, .m = t.m, .n = channels * t.taps, .k = rows * out_w};
            g.a = dy + image_group * t.m * t.plane + row * out_w, g.lda = t.plane;
            g.b = columns, g.ldb = g.k;
            g.c = filter + group * t.m * t.depth + c * t.taps, g.ldc = t.depth;
            g.beta = beta;
            cpu::gemm(g);
          }
      }
    });
  }
};

}  // namespace

const ConvSolver& im2col_solver() {
  static const Im2col solver;
  return solver;
}

const ConvSolver& im2col_sliced_solver() {
  static const Im2colSliced solver;
  return solver;
}

}  // namespace kaiseki
