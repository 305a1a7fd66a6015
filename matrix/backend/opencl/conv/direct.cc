// SPDX-License-Identifier: MIT
// Direct convolution of stride 1 for CPUs, forward and backward-data (cl_kernels/conv_direct.cl).
#include <algorithm>
#include <optional>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kRegisters = 24;  // registers for the sums of a tile, of 32 vector registers

/// The convolution as the kernel sees it. For backward-data, the filter is reversed and the
/// channels are swapped.
struct View {
  int64_t in_channels, out_channels;  // per group
  int64_t in_h, in_w, out_h, out_w, pad_h, pad_w;
};

View view_of(const ConvProblem& p) {
  if (p.direction == ConvDirection::forward)
    return {p.c / p.groups, p.k / p.groups, p.h,          p.w,
            p.out_h(),      p.out_w(),      p.padding[0], p.padding[1]};
  return {p.k / p.groups,
          p.c / p.groups,
          p.out_h(),
          p.out_w(),
          p.h,
          p.w,
          p.dilation[0] * (p.r - 1) - p.padding[0],
          p.dilation[1] * (p.s - 1) - p.padding[1]};
}

struct Tile {
  int64_t channels = 0, rows = 0, vectors = 0;  // vectors per row
  bool half = false;
  int64_t step() const { return half ? 8 : 16; }
};

/// Compares tiles by the number of vector multiply-adds, including those beyond borders. Takes the
/// tile with the fewest. Among equals it takes the largest.
Tile choose_tile(const View& v) {
  Tile best;
  std::optional<double> least;
  for (bool half : {false, true}) {
    int64_t per_row = (v.out_w + (half ? 7 : 15)) / (half ? 8 : 16);
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(per_row, 4); ++vectors)
      for (int64_t groups = 1; groups * vectors <= 6; ++groups) {
        int64_t in_tile = groups * vectors, rows = half ? 2 * groups : groups;
        int64_t channels = std::min<int64_t>(kRegisters / in_tile, 12);
        channels = std::min(channels, v.out_channels);
        // Prefers equal tiles: 20 channels are faster as 4 x 5 than as 6, 6, 6 and 2.
        int64_t tiles = ceil_div(v.out_channels, channels);
        channels = ceil_div(v.out_channels, tiles);
        double work = static_cast<double>(tiles * channels * round_up(v.out_h, rows) / rows *
                                          round_up(per_row, vectors) * groups);
        // Counts loads too: tiles with few channels or few vectors need more of them.
        double loads = (half ? 3.0 : 1.5) * static_cast<double>(in_tile) + 0.5 * channels;
        double tile_work = static_cast<double>(in_tile * channels);
        // A vector longer than the row is stored element by element.
        if (v.out_w < (half ? 8 : 16)) work *= 1.2;
        work *= std::max(1.0, (loads + 2) / tile_work + 0.5) * (1 + 2 / tile_work);
        if (!least || work < *least) {
          least = work;
          best = {channels, rows, vectors, half};
        }
      }
  }
  return best;
}

struct DirectLayout {
  View view;
  Tile tile;
  int64_t width, plane, tiles;  // width and plane are padded; tiles: tiles of channels per group
  int64_t padded_floats, filter_floats;  // both multiples of 16
};

DirectLayout layout_of(const ConvProblem& p) {
  DirectLayout l;
  l.view = view_of(p);
  l.tile = choose_tile(l.view);
  l.width = std::max(l.view.out_w, l.tile.step()) + p.dilation[1] * (p.s - 1);
  l.plane = l.width * (round_up(l.view.out_h, l.tile.rows) + p.dilation[0] * (p.r - 1));
  l.tiles = ceil_div(l.view.out_channels, l.tile.channels);
  l.padded_floats = round_up(p.n * p.groups * l.view.in_channels * l.plane, 16);
  l.filter_floats =
      round_up(p.groups * l.tiles * l.view.in_channels * p.r * p.s * l.tile.channels, 16);
  return l;
}

class DirectSolver : public ConvSolver {
 public:
  std::string_view name() const override { return "opencl_direct"; }

  bool applicable(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter || p.stride[0] != 1 || p.stride[1] != 1 ||
        !little_padding(p))
      return false;
    View v = view_of(p);
    return v.pad_h >= 0 && v.pad_w >= 0 && v.out_channels >= 2;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    DirectLayout l = layout_of(p);
    return static_cast<uint64_t>(l.padded_floats + l.filter_floats) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    OpenclDevice& device = backend_of(args).opencl();
    DirectLayout l = layout_of(p);
    const View& v = l.view;
    bool forward = p.direction == ConvDirection::forward;
    const Tensor& input = forward ? *args.x : *args.y;
    Tensor& output = forward ? *args.y : *args.x;
    Tensor padded = workspace_part(args, 0, l.padded_floats);
    Tensor filter = workspace_part(args, l.padded_floats, l.filter_floats);
    std::string options =
        define("R", p.r) + define("S", p.s) + define("OH", v.out_h) + define("OW", v.out_w) +
        define("WP", l.width) + define("PS", l.plane) + define("IN_H", v.in_h) +
        define("PAD_H", v.pad_h) + define("DILATION_H", p.dilation[0]) +
        define("DILATION_W", p.dilation[1]) + define("KT", l.tile.channels) +
        define("ROWS", l.tile.rows) + define("VX", l.tile.vectors) + define("HALF", l.tile.half) +
        define("FLIP", !forward) + define("BIAS", args.bias != nullptr) +
        define("ACTIVATION", static_cast<int>(args.activation));
    pad_planes(device,
               {p.n * p.groups * v.in_channels, v.in_h, v.in_w, v.pad_h, v.pad_w, l.width, l.plane},
               input, padded);
    int64_t elements = p.groups * l.tiles * v.in_channels * p.r * p.s * l.tile.channels;
    Launch(device, "conv_direct.cl", "pack_filter", options)
        .index(elements)
        .arg(static_cast<int32_t>(v.out_channels))
        .arg(static_cast<int32_t>(v.in_channels))
        .in(*args.filter)
        .out(filter)
        .over(elements);
    int64_t row_tiles = ceil_div(v.out_h, l.tile.rows);
    int64_t items = p.groups * l.tiles * p.n;
    int64_t slices = std::clamp<int64_t>(8 * device.facts().compute_units / items, 1, row_tiles);
    int64_t each = ceil_div(row_tiles, slices);
    Launch launch(device, "conv_direct.cl", "conv_direct", options);
    launch.arg(static_cast<int32_t>(v.out_channels))
        .arg(static_cast<int32_t>(v.in_channels))
        .arg(static_cast<int32_t>(p.groups))
        .arg(static_cast<int32_t>(each))
        .arg(args.slope)
        .in(padded)
        .in(filter);
    launch.optional(args.bias).out(output);
    launch.over_groups({static_cast<size_t>(p.groups * l.tiles),
                        static_cast<size_t>(ceil_div(row_tiles, each)), static_cast<size_t>(p.n)},
                       {1, 1, 1});
  }
};

}  // namespace

const ConvSolver& conv_direct_solver() {
  static const DirectSolver solver;
  return solver;
}

}  // namespace kaiseki::opencl
