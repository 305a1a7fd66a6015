// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/direct.h"

#include <algorithm>
#include <cmath>

#include "matrix/threads.h"

namespace kaiseki {
namespace {

/// The range of one filter tap along one axis: outputs first..last (exclusive) read inside 0..in.
/// origin is the input position of output 0.
struct Span {
  int64_t first, last, origin;
};

Span span(int64_t tap, int64_t in, int64_t out, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t origin = tap * dilation - padding;
  const int64_t first = origin >= 0 ? 0 : (-origin + stride - 1) / stride;
  const int64_t last = in > origin ? (in - origin + stride - 1) / stride : 0;
  return {first, std::clamp(last, first, std::max(first, out)), origin};
}

float activate(float v, const ConvArgs& args) {
  switch (args.activation) {
    case Activation::none:
      return v;
    case Activation::relu:
      return v < 0 ? 0 : v;
    case Activation::leaky_relu:
      return v < 0 ? args.slope * v : v;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
  }
  return v;
}

/// Calls row(r, s, out_row, in_row, columns) for every tap and every output row in its range.
template <typename F>
void for_each_row(const ConvProblem& p, const F& row) {
  for (int64_t r = 0; r < p.r; ++r) {
    const Span rows = span(r, p.h, p.out_h(), p.stride[0], p.padding[0], p.dilation[0]);
    for (int64_t s = 0; s < p.s; ++s) {
      const Span columns = span(s, p.w, p.out_w(), p.stride[1], p.padding[1], p.dilation[1]);
      for (int64_t i = rows.first; i < rows.last; ++i)
        row(r, s, i, i * p.stride[0] + rows.origin, columns);
    }
  }
}

class Direct final : public DirectedConvSolver {
 public:
  std::string_view name() const override { return "direct"; }
  bool applicable(const ConvProblem&) const override { return true; }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

 private:
  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t group_c = p.c / p.groups, group_k = p.k / p.groups, out_w = p.out_w();
    const int64_t plane = p.out_h() * out_w;
    const float *x = args.x->data<float>(), *filter = args.filter->data<float>();
    const float* bias = args.bias ? args.bias->data<float>() : nullptr;
    float* y = args.y->overwrite<float>();
    parallel_for(p.n * p.k, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / p.k, k = i % p.k;
        float* out = y + i * plane;
        std::fill_n(out, plane, bias ? bias[k] : 0.0f);
        for (int64_t c = 0; c < group_c; ++c) {
          const float* in = x + (n * p.c + k / group_k * group_c + c) * p.h * p.w;
          const float* weights = filter + (k * group_c + c) * p.r * p.s;
          for_each_row(p, [&](int64_t r, int64_t s, int64_t oy, int64_t iy, const Span& columns) {
            const float weight = weights[r * p.s + s];
            const float* from = in + iy * p.w + columns.origin;
            float* to = out + oy * out_w;
            for (int64_t j = columns.first; j < columns.last; ++j)
              to[j] += weight * from[j * p.stride[1]];
          });
        }
        for (int64_t j = 0; j < plane; ++j) out[j] = activate(out[j], args);
      }
    });
  }

  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t group_c = p.c / p.groups, group_k = p.k / p.groups, out_w = p.out_w();
    const float *dy = args.y->data<float>(), *filter = args.filter->data<float>();
    float* dx = args.x->overwrite<float>();
    parallel_for(p.n * p.c, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t n = i / p.c, group = i % p.c / group_c, c = i % group_c;
        float* out = dx + i * p.h * p.w;
        std::fill_n(out, p.h * p.w, 0.0f);
        for (int64_t k = group * group_k; k < (group + 1) * group_k; ++k) {
          const float* in = dy + (n * p.k + k) * p.out_h() * out_w;
          const float* weights = filter + (k * group_c + c) * p.r * p.s;
          for_each_row(p, [&](int64_t r, int64_t s, int64_t oy, int64_t iy, const Span& columns) {
            const float weight = weights[r * p.s + s];
            float* to = out + iy * p.w + columns.origin;
            const float* from = in + oy * out_w;
            for (int64_t j = columns.first; j < columns.last; ++j)
              to[j * p.stride[1]] += weight * from[j];
          });
        }
      }
    });
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    const int64_t group_c = p.c / p.groups, group_k = p.k / p.groups, out_w = p.out_w();
    const float *x = args.x->data<float>(), *dy = args.y->data<float>();
    float* filter =
        args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
    parallel_for(p.k * group_c, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = i / group_c, c = k / group_k * group_c + i % group_c;
        float* weights = filter + i * p.r * p.s;
        for (int64_t j = 0; j < p.r * p.s; ++j)
          weights[j] = args.beta == 0 ? 0 : args.beta * weights[j];
        for (int64_t n = 0; n < p.n; ++n) {
          const float* in = x + (n * p.c + c) * p.h * p.w;
          const float* out = dy + (n * p.k + k) * p.out_h() * out_w;
          for_each_row(p, [&](int64_t r, int64_t s, int64_t oy, int64_t iy, const Span& columns) {
            const float* from = in + iy * p.w + columns.origin;
            const float* by = out + oy * out_w;
            float sum = 0;
            for (int64_t j = columns.first; j < columns.last; ++j)
              sum += by[j] * from[j * p.stride[1]];
            weights[r * p.s + s] += sum;
          });
        }
      }
    });
  }
};

}  // namespace

const ConvSolver& direct_solver() {
  static const Direct solver;
  return solver;
}

}  // namespace kaiseki
