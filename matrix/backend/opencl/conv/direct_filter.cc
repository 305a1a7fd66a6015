// SPDX-License-Identifier: MIT
// Gradient of the filter for stride 1 on CPUs (cl_kernels/conv_direct_filter.cl).
#include <algorithm>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kMostRows = 64;   // rows of a filter; their sums are in private memory
constexpr int64_t kTaps = 6;        // vectors of x in registers
constexpr int64_t kRegisters = 24;  // sums in registers

struct DirectFilterLayout {
  bool half, copies_dy;
  int64_t step, out_width, out_rows, out_plane;  // layout of padded dy
  int64_t width, plane;                          // layout of padded x
  int64_t k, c;                                  // channels per group
  int64_t k_tile, c_tile, k_tiles, c_tiles;
  int64_t slice, slices;  // images per work-item; number of slices
  int64_t x_floats, dy_floats, part_floats;
};

DirectFilterLayout layout_of(const ConvProblem& p) {
  DirectFilterLayout l;
  l.half = round_up(p.out_w(), 8) < round_up(p.out_w(), 16);
  l.step = l.half ? 8 : 16;
  l.out_width = round_up(p.out_w(), l.step);
  l.out_rows = l.half ? round_up(p.out_h(), 2) : p.out_h();
  l.out_plane = l.out_width * l.out_rows;
  l.copies_dy = l.out_width != p.out_w() || l.out_rows != p.out_h();
  l.width = l.out_width + p.dilation[1] * (p.s - 1);
  l.plane = l.width * (l.out_rows + p.dilation[0] * (p.r - 1));
  l.k = p.k / p.groups;
  l.c = p.c / p.groups;
  l.c_tile = std::clamp<int64_t>(kTaps / p.s, 1, l.c);
  l.k_tile = std::clamp<int64_t>(kRegisters / (l.c_tile * p.s), 1, std::min<int64_t>(8, l.k));
  l.k_tiles = ceil_div(l.k, l.k_tile);
  l.k_tile = ceil_div(l.k, l.k_tiles);
  l.c_tiles = ceil_div(l.c, l.c_tile);
  int64_t items = p.groups * l.k_tiles * l.c_tiles;
  int64_t slices = std::clamp<int64_t>(32 / items, 1, std::max<int64_t>(1, p.n));
  l.slice = std::max<int64_t>(1, ceil_div(p.n, slices));
  l.slices = std::max<int64_t>(1, ceil_div(p.n, l.slice));
  l.x_floats = round_up(p.n * p.c * l.plane, 16);
  l.dy_floats = l.copies_dy ? round_up(p.n * p.k * l.out_plane, 16) : 0;
  l.part_floats = round_up(l.slices * p.k * l.c * p.r * p.s, 16);
  return l;
}

class DirectFilterSolver : public ConvSolver {
 public:
  std::string_view name() const override { return "opencl_direct_filter"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_filter && p.stride[0] == 1 && p.stride[1] == 1 &&
           p.s <= 12 && p.r <= kMostRows && little_padding(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    DirectFilterLayout l = layout_of(p);
    return static_cast<uint64_t>(l.x_floats + l.dy_floats + l.part_floats) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    OpenclBackend& backend = backend_of(args);
    OpenclDevice& device = backend.opencl();
    DirectFilterLayout l = layout_of(p);
    Tensor x = workspace_part(args, 0, l.x_floats);
    pad_planes(device, {p.n * p.c, p.h, p.w, p.padding[0], p.padding[1], l.width, l.plane}, *args.x,
               x);
    Tensor dy = *args.y;
    if (l.copies_dy) {
      dy = workspace_part(args, l.x_floats, l.dy_floats);
      pad_planes(device, {p.n * p.k, p.out_h(), p.out_w(), 0, 0, l.out_width, l.out_plane}, *args.y,
                 dy);
    }
    int64_t size = p.k * l.c * p.r * p.s;
    Tensor parts = workspace_part(args, l.x_floats + l.dy_floats, l.slices * size);
    Launch launch(device, "conv_direct_filter.cl", "conv_direct_filter",
                  define("R", p.r) + define("S", p.s) + define("WP", l.width) +
                      define("PS", l.plane) + define("OWP", l.out_width) +
                      define("OPS", l.out_plane) + define("ROWS", l.out_rows) +
                      define("DILATION_H", p.dilation[0]) + define("DILATION_W", p.dilation[1]) +
                      define("KT", l.k_tile) + define("CT", l.c_tile) + define("HALF", l.half));
    launch.arg(static_cast<int32_t>(p.n))
        .arg(static_cast<int32_t>(l.k))
        .arg(static_cast<int32_t>(l.c))
        .arg(static_cast<int32_t>(p.groups))
        .arg(static_cast<int32_t>(l.slice))
        .in(x)
        .in(dy)
        .out(parts);
    launch.over_groups({static_cast<size_t>(p.groups * l.k_tiles), static_cast<size_t>(l.c_tiles),
                        static_cast<size_t>(l.slices)},
                       {1, 1, 1});
    ReduceArgs sum{.kind = Reduction::sum,
                   .input = &parts,
                   .shape = {l.slices, size},
                   .reduced = {true},
                   .output = args.filter,
                   .beta = args.beta};
    backend.run(kReduce, sum);
  }
};

}  // namespace

const ConvSolver& conv_direct_filter_solver() {
  static const DirectFilterSolver solver;
  return solver;
}

}  // namespace kaiseki::opencl
