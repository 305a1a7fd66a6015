// SPDX-License-Identifier: MIT
// For filters of two to three times the stride, such as 11x11 with stride 4. Computes a convolution
// of the input's phases with 3x3 filters and stride 1, by Winograd's F(4x4, 3x3). CPU, all
// directions.
#include <algorithm>
#include <array>

#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kTaps = 3;         // filter taps of each phase along one axis
constexpr uint64_t kAlignment = 64;  // bytes; for the parts of the workspace
// Maximum ratio of products with and without the filter's padding.
constexpr double kMostPadding = 1.25;

uint64_t aligned(uint64_t bytes) { return round_up(bytes, kAlignment); }

/// The same convolution without stride. A phase is the set of pixels with equal position modulo the
/// stride. Each phase becomes a channel.
ConvProblem by_phases(const ConvProblem& p) {
  ConvProblem q{p.direction,
                p.n,
                p.c * p.stride[0] * p.stride[1],
                p.out_h() + kTaps - 1,
                p.out_w() + kTaps - 1,
                p.k,
                kTaps,
                kTaps};
  q.groups = p.groups;
  return q;
}

/// Calls f(number of the phase, row, column). Row and column are the position in x of the phase's
/// element (0, 0). For a filter, `padding` is 0.
template <typename F>
void each_phase(const ConvProblem& p, const std::array<int64_t, 2>& padding, F f) {
  for (int64_t row = 0; row < p.stride[0]; ++row)
    for (int64_t column = 0; column < p.stride[1]; ++column)
      f(row * p.stride[1] + column, row - padding[0], column - padding[1]);
}

/// The positions first..last (exclusive) of 0..count that are inside 0..size.
struct PhaseRange {
  int64_t first, last;
  PhaseRange(int64_t origin, int64_t stride, int64_t count, int64_t size)
      : first(std::min(count, origin >= 0 ? 0 : ceil_div(-origin, stride))),
        last(std::clamp(size > origin ? ceil_div(size - origin, stride) : 0, first, count)) {}
};

/// Planes [h][w] and their phases [rows][columns]. Elements of a phase outside its plane are 0.
struct Planes {
  int64_t h, w, rows, columns;
  std::array<int64_t, 2> padding;

  void split(const ConvProblem& p, const float* plane, float* phases) const {
    each_phase(p, padding, [&](int64_t phase, int64_t top, int64_t left) {
      float* to = phases + phase * rows * columns;
      std::fill_n(to, rows * columns, 0.0f);
      const PhaseRange i(top, p.stride[0], rows, h), j(left, p.stride[1], columns, w);
      for (int64_t row = i.first; row < i.last; ++row)
        for (int64_t column = j.first; column < j.last; ++column)
          to[row * columns + column] =
              plane[(top + row * p.stride[0]) * w + left + column * p.stride[1]];
    });
  }

  /// plane = phases + beta * plane. Elements outside all phases count as 0 in `phases`.
  void join(const ConvProblem& p, const float* phases, float beta, float* plane) const {
    for (int64_t i = 0; i < h * w; ++i) plane[i] = beta == 0 ? 0 : beta * plane[i];
    each_phase(p, padding, [&](int64_t phase, int64_t top, int64_t left) {
      const float* from = phases + phase * rows * columns;
      const PhaseRange i(top, p.stride[0], rows, h), j(left, p.stride[1], columns, w);
      for (int64_t row = i.first; row < i.last; ++row)
        for (int64_t column = j.first; column < j.last; ++column)
          plane[(top + row * p.stride[0]) * w + left + column * p.stride[1]] +=
              from[row * columns + column];
    });
  }
};

class StridedWinograd final : public ConvSolver {
 public:
  std::string_view name() const override { return "winograd_strided"; }

  bool applicable(const ConvProblem& p) const override {
    const auto fits = [&](int axis, int64_t filter) {
      return p.stride[axis] > 1 && ceil_div(filter, p.stride[axis]) == kTaps;
    };
    if (!fits(0, p.r) || !fits(1, p.s) || p.dilation != std::array<int64_t, 2>{1, 1}) return false;
    const ConvProblem q = by_phases(p);
    return q.flops() < kMostPadding * p.flops() && inner().applicable(q);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const ConvProblem q = by_phases(p);
    return x_bytes(q) + filter_bytes(q) + inner().workspace_bytes(q);
  }

  bool fuses_pooling(const ConvProblem& p) const override {
    return inner().fuses_pooling(by_phases(p));
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const ConvProblem q = by_phases(p);
    const auto part = [&](uint64_t begin, uint64_t bytes) {
      return args.workspace->slice(0, static_cast<int64_t>(begin), static_cast<int64_t>(bytes));
    };
    Tensor x = part(0, x_bytes(q)).reinterpret(DType::f32);
    Tensor filter = part(x_bytes(q), filter_bytes(q)).reinterpret(DType::f32);
    Tensor rest = part(x_bytes(q) + filter_bytes(q), inner().workspace_bytes(q));
    const Planes pixels{p.h, p.w, q.h, q.w, p.padding}, taps{p.r, p.s, kTaps, kTaps, {0, 0}};
    const int64_t images = p.n * p.c, filters = p.k * (p.c / p.groups);
    if (p.direction != ConvDirection::backward_data) split(p, pixels, images, *args.x, x);
    if (p.direction != ConvDirection::backward_filter)
      split(p, taps, filters, *args.filter, filter);
    ConvArgs inside = args;
    inside.x = &x, inside.filter = &filter, inside.workspace = &rest, inside.beta = 0;
    inner().run(q, inside);
    if (p.direction == ConvDirection::backward_data) join(p, pixels, images, x, 0, *args.x);
    if (p.direction == ConvDirection::backward_filter)
      join(p, taps, filters, filter, args.beta, *args.filter);
  }

 private:
  static const ConvSolver& inner() { return *winograd_solvers()[0]; }
  static uint64_t x_bytes(const ConvProblem& q) {
    return aligned(static_cast<uint64_t>(q.n * q.c * q.h * q.w) * sizeof(float));
  }
  static uint64_t filter_bytes(const ConvProblem& q) {
    return aligned(static_cast<uint64_t>(q.k * (q.c / q.groups) * q.r * q.s) * sizeof(float));
  }

  static void split(const ConvProblem& p, const Planes& planes, int64_t count, const Tensor& from,
                    Tensor& to) {
    const float* source = from.data<float>();
    float* phases = to.overwrite<float>();
    const int64_t size = p.stride[0] * p.stride[1] * planes.rows * planes.columns;
    parallel_for(count, grain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        planes.split(p, source + i * planes.h * planes.w, phases + i * size);
    });
  }

  static void join(const ConvProblem& p, const Planes& planes, int64_t count, const Tensor& from,
                   float beta, Tensor& to) {
    const float* phases = from.data<float>();
    float* target = beta == 0 ? to.overwrite<float>() : to.mutable_data<float>();
    const int64_t size = p.stride[0] * p.stride[1] * planes.rows * planes.columns;
    parallel_for(count, grain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        planes.join(p, phases + i * size, beta, target + i * planes.h * planes.w);
    });
  }

  static int64_t grain(int64_t size) {
    return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, size));
  }
};

}  // namespace

const ConvSolver& strided_winograd_solver() {
  static const StridedWinograd solver;
  return solver;
}

}  // namespace kaiseki
