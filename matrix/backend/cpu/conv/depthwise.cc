// SPDX-License-Identifier: MIT
// Depthwise convolution: each group has one input channel. Computes each plane separately, in all
// directions. Supports any filter, stride, padding and dilation, and up to four output channels per
// group. A NaN or an infinity in the input affects the filter gradient of its whole channel.
#include <algorithm>
#include <limits>
#include <vector>

#include "matrix/backend/cpu/conv/depthwise_kernels.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::kRunSlack;
using conv::PackedPlane;
using conv::Taps;

constexpr int64_t kMostOutputs = 4;  // per group; with more outputs, matrix products are faster
constexpr int64_t kChunk = 1024;  // outputs of a tight plane that fit the L1 cache with their masks
constexpr int64_t kPieceWork = 100000;  // least multiplications that justify another thread

/// Forward or backward-data as a gather: one pair of axes, or one for each pair of residues of dx.
struct DepthwisePlan {
  const ConvProblem& p;
  std::vector<Taps> rows, columns;
  PackedPlane plane;
  int64_t outputs;  // outputs per group

  static std::vector<Taps> taps(const ConvProblem& p, int axis) {
    const int64_t in = axis ? p.w : p.h, out = axis ? p.out_w() : p.out_h();
    const int64_t filter = axis ? p.s : p.r;
    if (p.direction == ConvDirection::backward_data)
      return conv::backward_taps(in, out, filter, p.stride[axis], p.padding[axis],
                                 p.dilation[axis]);
    return {conv::forward_taps(in, out, filter, p.stride[axis], p.padding[axis], p.dilation[axis])};
  }
  explicit DepthwisePlan(const ConvProblem& problem)
      : p(problem),
        rows(taps(p, 0)),
        columns(taps(p, 1)),
        plane{conv::PackedAxis(rows, false), conv::PackedAxis(columns, true)},
        outputs(p.k / p.groups) {}

  int64_t in_plane() const { return p.h * p.w; }
  int64_t out_plane() const { return p.out_h() * p.out_w(); }
  int64_t filter_size() const { return p.r * p.s; }
  /// The number of rows computed at a time.
  int64_t chunk_rows() const {
    return plane.columns.tight ? std::max<int64_t>(1, kChunk / plane.pitch())
                               : std::numeric_limits<int64_t>::max();
  }
  int64_t grain() const {
    return std::max<int64_t>(1, kPieceWork / (out_plane() * filter_size() * outputs));
  }
};

/// The taps of one pair of axes, and their indices in the filter.
struct Selected : conv::RunTaps {
  std::vector<int64_t> index;
  Selected(const DepthwisePlan& t, const Taps& rows_of, const Taps& columns) {
    rows = static_cast<int64_t>(rows_of.offsets.size());
    for (size_t s = 0; s < columns.offsets.size(); ++s) {
      for (size_t r = 0; r < rows_of.offsets.size(); ++r) {
        offsets.push_back(t.plane.offset(rows_of.offsets[r], columns.offsets[s]));
        index.push_back(rows_of.index[r] * t.p.s + columns.index[s]);
      }
      if (t.plane.columns.tight)
        masks.push_back(
            mask(t, columns, columns.offsets[s], std::min(rows_of.out, t.chunk_rows())));
    }
  }

 private:
  static std::vector<uint32_t> mask(const DepthwisePlan& t, const Taps& columns, int64_t offset,
                                    int64_t rows) {
    std::vector<uint32_t> bits(static_cast<size_t>(rows * t.plane.pitch() + kRunSlack));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns.out; ++j) {
        const int64_t position = offset + j * columns.stride;
        if (position >= 0 && position < columns.in)
          bits[static_cast<size_t>(i * t.plane.pitch() + j)] = ~0u;
      }
    return bits;
  }
};

/// Calls f(first output, outputs) for each chunk of rows.
template <typename F>
void each_chunk(const DepthwisePlan& t, int64_t rows, int64_t columns, F f) {
  for (int64_t i = 0; i < rows; i += std::min(rows, t.chunk_rows()))
    f(i * t.plane.pitch(), t.plane.run(std::min(rows - i, t.chunk_rows()), columns));
}

/// Computes one plane `to`.
void correlate_plane(const DepthwisePlan& t, const Selected& taps, const float* weights,
                     const float* packed, float bias, const ConvArgs& args, float* run, float* to) {
  const int64_t height = t.rows[0].out, width = t.columns[0].out;
  each_chunk(t, height, width, [&](int64_t q, int64_t count) {
    conv::correlate_run(count, taps, weights, packed + q, bias, run);
    if (t.plane.columns.tight)
      conv::narrow_rows(1, count, run, 0, args.activation, args.slope, to + q, 0);
    else
      conv::narrow_rows(height, width, run, t.plane.pitch(), args.activation, args.slope, to,
                        width);
  });
}

void correlate(const DepthwisePlan& t, const ConvArgs& args) {
  const Selected taps(t, t.rows[0], t.columns[0]);
  const float *x = args.x->data<float>(), *filter = args.filter->data<float>();
  const float* bias = args.bias ? args.bias->data<float>() : nullptr;
  float* y = args.y->overwrite<float>();
  parallel_for(t.p.n * t.p.c, t.grain(), [&](int64_t begin, int64_t end) {
    float* packed = conv::thread_scratch(0, t.plane.floats());
    float* run = conv::thread_scratch(1, t.plane.run(t.p.out_h(), t.p.out_w()) + kRunSlack);
    float* row = conv::thread_scratch(2, t.plane.scratch_floats());
    std::vector<float> weights(taps.index.size());
    for (int64_t i = begin; i < end; ++i) {
      conv::pack_plane(t.plane, x + i * t.in_plane(), row, packed);
      for (int64_t o = 0; o < t.outputs; ++o) {
        const int64_t k = i % t.p.c * t.outputs + o;
        for (size_t j = 0; j < weights.size(); ++j)
          weights[j] = filter[k * t.filter_size() + taps.index[j]];
        float* to = y + (i * t.outputs + o) * t.out_plane();
        correlate_plane(t, taps, weights.data(), packed, bias ? bias[k] : 0, args, run, to);
        if (!is_cheap(args.activation))
          cpu::gemm_kernels().finish({.activation = args.activation, .slope = args.slope}, 1,
                                     t.out_plane(), to, t.out_plane());
      }
    }
  });
}

/// Writes the elements of dx for one residue of the rows and all residues of the columns.
void store_rows(const DepthwisePlan& t, const Taps& rows, const std::vector<const float*>& runs,
                float* dx) {
  const int64_t pitch = t.plane.pitch(), down = rows.step * t.p.w;
  dx += rows.first * t.p.w;
  if (runs.size() == 1 && t.columns[0].step == 1)
    return conv::narrow_rows(rows.out, t.p.w, runs[0], pitch, Activation::none, 0, dx, down);
  if (runs.size() == 2)
    return conv::narrow_pairs(rows.out, t.p.w, runs[0], runs[1], pitch, dx, down);
  for (size_t c = 0; c < runs.size(); ++c) {
    const Taps& columns = t.columns[c];
    for (int64_t i = 0; i < rows.out; ++i)
      for (int64_t j = 0; j < columns.out; ++j)
        dx[i * down + columns.first + j * columns.step] = runs[c][i * pitch + j];
  }
}

void data_gradient(const DepthwisePlan& t, const ConvArgs& args) {
  std::vector<Selected> taps;  // taps for each output of a group
  const int64_t floats = t.plane.floats();
  for (const Taps& rows : t.rows)
    for (const Taps& columns : t.columns) taps.emplace_back(t, rows, columns);
  for (Selected& one : taps) {
    const size_t count = one.index.size(), masks = one.masks.size();
    for (int64_t o = 1; o < t.outputs; ++o)
      for (size_t j = 0; j < count; ++j) {
        one.offsets.push_back(one.offsets[j] + o * floats);
        one.index.push_back(one.index[j] + o * t.filter_size());
      }
    for (int64_t o = 1; o < t.outputs; ++o)
      for (size_t j = 0; j < masks; ++j) one.masks.push_back(one.masks[j]);
  }
  const float *dy = args.y->data<float>(), *filter = args.filter->data<float>();
  float* dx = args.x->overwrite<float>();
  const int64_t size = t.plane.run(t.rows[0].out, t.columns[0].out) + kRunSlack;
  const bool whole = t.p.stride == std::array<int64_t, 2>{1, 1};
  const auto residues = static_cast<int64_t>(t.columns.size());
  parallel_for(t.p.n * t.p.c, t.grain(), [&](int64_t begin, int64_t end) {
    float* packed = conv::thread_scratch(0, t.outputs * floats);
    float* run = conv::thread_scratch(1, residues * size);
    float* row = conv::thread_scratch(2, t.plane.scratch_floats());
    std::vector<float> weights;
    std::vector<const float*> runs;
    for (int64_t c = 0; c < residues; ++c) runs.push_back(run + c * size);
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t o = 0; o < t.outputs; ++o)
        conv::pack_plane(t.plane, dy + (i * t.outputs + o) * t.out_plane(), row,
                         packed + o * floats);
      float* to = dx + i * t.in_plane();
      for (size_t r = 0; r < t.rows.size(); ++r) {
        for (size_t c = 0; c < t.columns.size(); ++c) {
          const Selected& one = taps[r * t.columns.size() + c];
          weights.clear();
          for (int64_t index : one.index)
            weights.push_back(filter[i % t.p.c * t.outputs * t.filter_size() + index]);
          if (whole) {
            correlate_plane(t, one, weights.data(), packed, 0, args, run, to);
          } else {
            float* out = run + static_cast<int64_t>(c) * size;
            each_chunk(t, t.rows[r].out, t.columns[c].out, [&](int64_t q, int64_t count) {
              conv::correlate_run(count, one, weights.data(), packed + q, 0, out + q);
            });
          }
        }
        if (!whole) store_rows(t, t.rows[r], runs, to);
      }
    }
  });
}

void filter_gradient(const DepthwisePlan& t, const ConvArgs& args) {
  const Selected taps(t, t.rows[0], t.columns[0]);
  const float *x = args.x->data<float>(), *dy = args.y->data<float>();
  float* out =
      args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
  const int64_t grain = std::max<int64_t>(1, t.grain() / std::max<int64_t>(1, t.p.n));
  parallel_for(t.p.k, grain, [&](int64_t begin, int64_t end) {
    float* packed = conv::thread_scratch(0, t.plane.floats());
    float* run = conv::thread_scratch(1, t.p.out_h() * t.plane.pitch() + kRunSlack);
    float* row = conv::thread_scratch(2, t.plane.scratch_floats());
    std::vector<float> sums(taps.index.size() * conv::kRunLanes);
    for (int64_t k = begin; k < end; ++k) {
      std::ranges::fill(sums, 0.0f);
      for (int64_t n = 0; n < t.p.n; ++n) {
        conv::pack_plane(t.plane, x + (n * t.p.c + k / t.outputs) * t.in_plane(), row, packed);
        conv::widen_rows(t.p.out_h(), t.p.out_w(), dy + (n * t.p.k + k) * t.out_plane(),
                         t.plane.pitch(), run);
        each_chunk(t, t.p.out_h(), t.p.out_w(), [&](int64_t q, int64_t count) {
          conv::sum_run(count, taps, run + q, packed + q, sums.data());
        });
      }
      float* to = out + k * t.filter_size();
      for (int64_t j = 0; j < t.filter_size(); ++j) to[j] = args.beta == 0 ? 0 : args.beta * to[j];
      for (size_t j = 0; j < taps.index.size(); ++j) {
        float sum = 0;
        for (size_t lane = 0; lane < conv::kRunLanes; ++lane)
          sum += sums[j * conv::kRunLanes + lane];
        to[taps.index[j]] += sum;
      }
    }
  });
}

class Depthwise final : public DirectedConvSolver {
 public:
  std::string_view name() const override { return "depthwise"; }
  bool applicable(const ConvProblem& p) const override {
    return p.c == p.groups && p.k <= kMostOutputs * p.groups;
  }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 0; }

 private:
  void forward(const ConvProblem& p, const ConvArgs& args) const override {
    correlate(DepthwisePlan(p), args);
  }
  void backward_data(const ConvProblem& p, const ConvArgs& args) const override {
    data_gradient(DepthwisePlan(p), args);
  }
  void backward_filter(const ConvProblem& p, const ConvArgs& args) const override {
    filter_gradient(DepthwisePlan(p), args);
  }
};

}  // namespace

const ConvSolver& depthwise_solver() {
  static const Depthwise solver;
  return solver;
}

}  // namespace kaiseki
