// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

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

constexpr int64_t kDepth = 512;            // pixels summed in registers
constexpr int64_t kBlockFloats = 1 << 17;  // floats of packed x: a quarter of an L2 cache
constexpr int64_t kMostPieces = 16;        // pieces of the pixels, each with its own sums
constexpr int64_t kSums = 1 << 20;         // maximum floats of all sums
constexpr int64_t kTasks = 4;              // per thread
constexpr int64_t kLine = 16;
constexpr int64_t kLongRow = 144;
// Rows at this distance map to the same set of the first-level cache.
constexpr int64_t kAliasing = 4096 / 4;

/// Computes a filter's gradient [m][width] as a sum over the pixels of all samples, in blocks.
struct PointwiseFilterPlan {
  const ConvProblem& p;
  int64_t m, width, pixels, depth, blocks, pieces;
  int64_t row_panels, panels, chunk_panels, chunks, splits;
  bool in_place;  // rows of dy are long enough to be read in place

  explicit PointwiseFilterPlan(const ConvProblem& problem)
      : p(problem), m(p.k / p.groups), width(p.c / p.groups), pixels(p.n * p.out_h() * p.out_w()) {
    const GemmKernels& kernels = gemm_kernels();
    depth = conv::balanced_piece(pixels, kDepth);
    blocks = ceil_div(pixels, depth);
    pieces = std::clamp<int64_t>(std::min(blocks, kSums / size()), 1, kMostPieces);
    row_panels = ceil_div(m, kernels.rows);
    panels = ceil_div(width, kernels.columns());
    chunk_panels =
        conv::balanced_piece(panels, std::max<int64_t>(1, kBlockFloats / panel_floats()));
    chunks = ceil_div(panels, chunk_panels);
    const int64_t tasks = p.groups * pieces * chunks;
    splits = std::clamp<int64_t>(kTasks * thread_count() / tasks, 1, ceil_div(row_panels, 4));
    if (thread_count() == 1) splits = 1;
    in_place = p.stride == std::array<int64_t, 2>{1, 1} && out_plane() >= kLongRow &&
               out_plane() % kAliasing != 0;
  }
  int64_t out_plane() const { return p.out_h() * p.out_w(); }
  int64_t size() const { return p.k * width; }
  int64_t panel_floats() const { return depth * gemm_kernels().columns() + kLine; }
  int64_t row(int64_t panel) const { return m * panel / row_panels; }
};

/// Adds to some panels of rows and columns of a group's sums. The first block overwrites them.
class PointwiseFilterTask {
 public:
  PointwiseFilterTask(const PointwiseFilterPlan& plan, const float* x, const float* dy)
      : t_(plan), x_(x), dy_(dy) {}

  void run(int64_t group, int64_t piece, int64_t chunk, int64_t first_row, int64_t last_row,
           float* sums) const {
    const int64_t first = chunk * t_.chunk_panels;
    const int64_t count = std::min(t_.chunk_panels, t_.panels - first);
    float* packed = conv::thread_scratch(0, count * t_.panel_floats());
    float* rows = conv::thread_scratch(1, GemmKernels::kMaxRows * t_.depth);
    float* tile = conv::thread_scratch(2, GemmKernels::kMaxRows * kernels_.columns());
    const int64_t begin = t_.blocks * piece / t_.pieces;
    for (int64_t block = begin; block < t_.blocks * (piece + 1) / t_.pieces; ++block) {
      const int64_t pixel = block * t_.depth, end = std::min(pixel + t_.depth, t_.pixels);
      const auto runs = conv::column_runs(t_.p, pixel, end);
      for (int64_t j = 0; j < count; ++j)
        pack_x(runs, group, first + j, packed + j * t_.panel_floats());
      for (int64_t i = first_row; i < last_row; ++i) {
        const int64_t row = t_.row(i);
        const int height = static_cast<int>(t_.row(i + 1) - row);
        if (!t_.in_place) pack_dy(runs, group * t_.m + row, height, rows);
        const DyRows left{group * t_.m + row, height, end - pixel, rows};
        for (int64_t j = 0; j < count; ++j)
          multiply(left, runs, packed + j * t_.panel_floats(), columns(first + j),
                   block == begin ? 0.0f : 1.0f, tile,
                   sums + row * t_.width + (first + j) * kernels_.columns());
      }
    }
  }

 private:
  /// Rows of dy. `packed` holds this block if the rows are not read in place.
  struct DyRows {
    int64_t row;
    int height;
    int64_t depth;
    const float* packed;
  };

  int64_t columns(int64_t panel) const {
    return std::min<int64_t>(kernels_.columns(), t_.width - panel * kernels_.columns());
  }
  int wide(int64_t columns) const { return static_cast<int>(round_up(columns, kernels_.lanes)); }

  void pack_x(const std::vector<ColumnRun>& runs, int64_t group, int64_t panel, float* to) const {
    const int64_t plane = t_.p.h * t_.p.w, step = t_.p.stride[1];
    const auto count = static_cast<int>(columns(panel));
    const int width = wide(count);
    const float* channel = x_ + (group * t_.width + panel * kernels_.columns()) * plane;
    for (const ColumnRun& run : runs) {
      const float* from = channel + run.x;
      if (step == 1)
        kernels_.pack_transposed(run.count, count, width, from, plane, to + run.first * width);
      else
        for (int64_t i = 0; i < run.count; ++i)
          for (int64_t c = 0; c < width; ++c)
            to[(run.first + i) * width + c] =
                from[std::min<int64_t>(c, count - 1) * plane + i * step];
    }
  }

  void pack_dy(const std::vector<ColumnRun>& runs, int64_t row, int height, float* to) const {
    const int64_t plane = t_.out_plane();
    for (const ColumnRun& run : runs)
      kernels_.pack_transposed(run.count, height, height, dy_ + row * plane + run.y, plane,
                               to + run.first * height);
  }

  void multiply(const DyRows& left, const std::vector<ColumnRun>& runs, const float* packed,
                int64_t count, float beta, float* tile, float* sums) const {
    const int width = wide(count);
    const bool whole = count == width;
    float* to = whole ? sums : tile;
    const int64_t stride = whole ? t_.width : width;
    const float first_beta = whole ? beta : 0.0f;
    const cpu::TileFn multiply =
        kernels_.tile[t_.in_place][width / kernels_.lanes - 1][left.height - 1];
    if (!t_.in_place)
      multiply(left.depth, left.packed, left.height, packed, width, {1, first_beta}, to, stride);
    else
      for (const ColumnRun& run : runs)
        multiply(run.count, dy_ + left.row * t_.out_plane() + run.y, t_.out_plane(),
                 packed + run.first * width, width, {1, run.first == 0 ? first_beta : 1.0f}, to,
                 stride);
    if (!whole) kernels_.merge(left.height, count, tile, width, 1, beta, sums, t_.width);
  }

  const GemmKernels& kernels_ = gemm_kernels();
  const PointwiseFilterPlan& t_;
  const float *x_, *dy_;
};

class PointwiseFilter final : public ConvSolver {
 public:
  std::string_view name() const override { return "pointwise_filter"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_filter && conv::is_pointwise(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const PointwiseFilterPlan plan(p);
    return static_cast<uint64_t>(plan.pieces * plan.size()) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const PointwiseFilterPlan plan(p);
    const PointwiseFilterTask task(plan, args.x->data<float>(), args.y->data<float>());
    auto* sums = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    const int64_t cells = plan.chunks * plan.splits;
    parallel_for(p.groups * plan.pieces * cells, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / cells % p.groups, piece = i / cells / p.groups;
        const int64_t chunk = i / plan.splits % plan.chunks, split = i % plan.splits;
        task.run(group, piece, chunk, plan.row_panels * split / plan.splits,
                 plan.row_panels * (split + 1) / plan.splits,
                 sums + piece * plan.size() + group * plan.m * plan.width);
      }
    });
    float* out =
        args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
    parallel_for(plan.size(), 1 << 14, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = args.beta == 0 ? 0 : args.beta * out[i];
      for (int64_t piece = 0; piece < plan.pieces; ++piece)
        for (int64_t i = begin; i < end; ++i) out[i] += sums[piece * plan.size() + i];
    });
  }
};

}  // namespace

const ConvSolver& pointwise_filter_solver() {
  static const PointwiseFilter solver;
  return solver;
}

}  // namespace kaiseki
