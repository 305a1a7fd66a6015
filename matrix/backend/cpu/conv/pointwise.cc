// SPDX-License-Identifier: MIT
// Filters of one element as plain matrix products: forward, backward-data and backward-filter. The
// columns of all samples of a batch are joined, so that small planes fill whole tiles. Any stride
// and groups; no padding.
#include <algorithm>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/pointwise_columns.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::ColumnRun;
using cpu::gemm_kernels;
using cpu::GemmKernels;

constexpr int64_t kDepth = 512;            // products summed in registers
constexpr int64_t kBlockFloats = 1 << 17;  // floats of packed columns: a quarter of an L2 cache
constexpr int64_t kMostPanels = 16;        // panels of columns in a block
constexpr int64_t kLeastPanels = 4, kTasks = 4;  // minimum panels per task; tasks per thread
// Padding in floats, so that panels of a block start in different cache sets.
constexpr int64_t kLine = 16;

/// Forward or backward-data: a filter matrix [m][depth] times the columns, for each group.
struct PointwisePlan {
  const ConvProblem& p;
  bool back;
  int64_t m, depth, columns, in_plane, out_plane;
  int64_t k_block, row_panels, panels, block_panels, blocks, splits;

  explicit PointwisePlan(const ConvProblem& problem)
      : p(problem), back(p.direction == ConvDirection::backward_data) {
    const int64_t x_plane = p.h * p.w, y_plane = p.out_h() * p.out_w();
    m = (back ? p.c : p.k) / p.groups, depth = (back ? p.k : p.c) / p.groups;
    in_plane = back ? y_plane : x_plane, out_plane = back ? x_plane : y_plane;
    columns = p.n * y_plane;
    const GemmKernels& kernels = gemm_kernels();
    k_block = conv::balanced_piece(depth, kDepth);
    row_panels = ceil_div(m, kernels.rows);
    panels = ceil_div(columns, kernels.columns());
    const int64_t want = kTasks * thread_count() / p.groups;
    const int64_t fit = std::clamp<int64_t>(kBlockFloats / panel_floats(), 1, kMostPanels);
    const int64_t share = std::max(kLeastPanels, panels / std::max<int64_t>(1, want));
    block_panels = conv::balanced_piece(panels, std::min(fit, share));
    blocks = ceil_div(panels, block_panels);
    splits =
        thread_count() == 1 ? 1 : std::clamp<int64_t>(want / blocks, 1, ceil_div(row_panels, 4));
  }
  int64_t panel_floats() const { return k_block * gemm_kernels().columns() + kLine; }
  /// The first row of a panel. Panels have nearly equal sizes.
  int64_t row(int64_t panel) const { return m * panel / row_panels; }
};

/// Layout: [group][piece of depth][panel of rows][depth][row].
void pack_filter(const PointwisePlan& t, const float* filter, float* out) {
  const GemmKernels& kernels = gemm_kernels();
  parallel_for(t.p.groups * t.row_panels, 4, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / t.row_panels, panel = task % t.row_panels;
      const int64_t first = t.row(panel), rows = t.row(panel + 1) - first;
      const float* from = filter + group * t.m * t.depth;
      for (int64_t k = 0; k < t.depth; k += t.k_block) {
        const int64_t count = std::min(t.k_block, t.depth - k);
        float* to = out + group * t.m * t.depth + k * t.m + first * count;
        const int width = static_cast<int>(rows);
        if (t.back)
          kernels.pack(count, width, width, from + k * t.m + first, t.m, to);
        else
          kernels.pack_transposed(count, width, width, from + first * t.depth + k, t.depth, to);
      }
    }
  });
}

/// Computes some panels of columns and some panels of rows of one group.
class PointwiseTask {
 public:
  PointwiseTask(const PointwisePlan& plan, const ConvArgs& args, int64_t group, const float* filter)
      : t_(plan),
        group_(group),
        filter_(filter + group * plan.m * plan.depth),
        last_{nullptr, nullptr, args.activation, args.slope} {
    if (args.bias) last_.bias_row = args.bias->data<float>() + group * plan.m;
  }

  void run(const float* in, float* out, int64_t block, int64_t first_row, int64_t last_row) {
    const int64_t width = kernels_.columns();
    const int64_t first = block * t_.block_panels;
    const int64_t count = std::min(t_.block_panels, t_.panels - first);
    float* packed = conv::thread_scratch(0, count * t_.panel_floats());
    tile_ = conv::thread_scratch(1, GemmKernels::kMaxRows * width);
    std::vector<std::vector<ColumnRun>> runs;
    for (int64_t j = first; j < first + count; ++j)
      runs.push_back(conv::column_runs(t_.p, j * width, std::min((j + 1) * width, t_.columns)));
    in += group_ * t_.depth * t_.in_plane;
    out += group_ * t_.m * t_.out_plane;
    for (int64_t k = 0; k < t_.depth; k += t_.k_block) {
      const int64_t depth = std::min(t_.k_block, t_.depth - k);
      for (int64_t j = 0; j < count; ++j)
        pack(in + k * t_.in_plane, runs[static_cast<size_t>(j)], depth,
             packed + j * t_.panel_floats());
      for (int64_t i = first_row; i < last_row; ++i)
        for (int64_t j = 0; j < count; ++j)
          multiply(k, depth, i, runs[static_cast<size_t>(j)], packed + j * t_.panel_floats(), out);
    }
  }

 private:
  bool whole(const std::vector<ColumnRun>& runs) const {
    return runs.size() == 1 && runs[0].count % kernels_.lanes == 0;
  }
  int width(const std::vector<ColumnRun>& runs) const {
    const int count = static_cast<int>(runs.back().first + runs.back().count);
    return round_up(count, kernels_.lanes);
  }

  void pack(const float* in, const std::vector<ColumnRun>& runs, int64_t depth, float* to) const {
    const int wide = width(runs);
    const int64_t step = t_.back ? 1 : t_.p.stride[1];
    if (runs.back().first + runs.back().count < wide) std::fill_n(to, depth * wide, 0.0f);
    for (const ColumnRun& run : runs) {
      const float* from = in + (t_.back ? run.y : run.x);
      if (step != 1)
        for (int64_t k = 0; k < depth; ++k)
          for (int64_t j = 0; j < run.count; ++j)
            to[k * wide + run.first + j] = from[k * t_.in_plane + j * step];
      else if (run.count == wide)
        kernels_.pack(depth, wide, wide, from, t_.in_plane, to);
      else
        kernels_.merge(depth, run.count, from, t_.in_plane, 1, 0, to + run.first, wide);
    }
  }

  void multiply(int64_t k, int64_t depth, int64_t panel, const std::vector<ColumnRun>& runs,
                const float* packed, float* out) const {
    const int64_t row = t_.row(panel), rows = t_.row(panel + 1) - row;
    const int wide = width(runs);
    const cpu::TileFn tile = kernels_.tile[0][wide / kernels_.lanes - 1][rows - 1];
    const float* filter = filter_ + k * t_.m + row * depth;
    const float beta = k == 0 ? 0.0f : 1.0f;
    const bool finish = k + depth == t_.depth && !last_.empty();
    cpu::Epilogue last = last_;
    if (last.bias_row) last.bias_row += row;
    out += row * t_.out_plane;
    if (whole(runs) && (!t_.back || t_.p.stride == kOne)) {
      float* to = out + (t_.back ? runs[0].x : runs[0].y);
      tile(depth, filter, rows, packed, wide, {1, beta}, to, t_.out_plane);
      if (finish) kernels_.finish(last, rows, wide, to, t_.out_plane);
      return;
    }
    tile(depth, filter, rows, packed, wide, {1, 0}, tile_, wide);
    for (const ColumnRun& run : runs) {
      float* to = out + (t_.back ? run.x : run.y);
      if (t_.back && t_.p.stride != kOne) {
        scatter(run, rows, wide, beta, to);
      } else {
        kernels_.merge(rows, run.count, tile_ + run.first, wide, 1, beta, to, t_.out_plane);
        if (finish) kernels_.finish(last, rows, run.count, to, t_.out_plane);
      }
    }
  }

  void scatter(const ColumnRun& run, int64_t rows, int64_t wide, float beta, float* to) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < run.count; ++j) {
        float& value = to[i * t_.out_plane + j * t_.p.stride[1]];
        value = tile_[i * wide + run.first + j] + (beta == 0 ? 0 : value);
      }
  }

  static constexpr std::array<int64_t, 2> kOne{1, 1};
  const GemmKernels& kernels_ = gemm_kernels();
  const PointwisePlan& t_;
  int64_t group_;
  const float* filter_;
  cpu::Epilogue last_;
  float* tile_ = nullptr;
};

class Pointwise final : public ConvSolver {
 public:
  std::string_view name() const override { return "pointwise"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction != ConvDirection::backward_filter && conv::is_pointwise(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(p.k * (p.c / p.groups)) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const PointwisePlan plan(p);
    auto* filter = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    pack_filter(plan, args.filter->data<float>(), filter);
    const float* in = (plan.back ? args.y : args.x)->data<float>();
    float* out = (plan.back ? args.x : args.y)->overwrite<float>();
    if (plan.back && p.stride != std::array<int64_t, 2>{1, 1})
      parallel_for(p.n * p.c * plan.out_plane, 1 << 16,
                   [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, 0.0f); });
    parallel_for(p.groups * plan.blocks * plan.splits, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t split = task % plan.splits, block = task / plan.splits % plan.blocks;
        PointwiseTask(plan, args, task / plan.splits / plan.blocks, filter)
            .run(in, out, block, plan.row_panels * split / plan.splits,
                 plan.row_panels * (split + 1) / plan.splits);
      }
    });
  }
};

}  // namespace

const ConvSolver& pointwise_solver() {
  static const Pointwise solver;
  return solver;
}

}  // namespace kaiseki
