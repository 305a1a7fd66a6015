// SPDX-License-Identifier: MIT
// Winograd's minimal filtering F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3): 0.25, 0.36 and 0.44 of the
// multiplications. Stride and dilation 1. The outputs of a tile, or its filter gradients, mix all
// inputs of the tile. Errors are therefore relative to the largest input. A NaN, an infinity or a
// value above 1e36 affects the whole tile.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/pooled.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/conv/winograd_filter.h"
#include "matrix/backend/cpu/conv/winograd_kernels.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/ceil_div.h"
#include "matrix/conv/correlation.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::kWinogradChannels;
using conv::WinogradForm;
using conv::WinogradLayout;

// Floats of transformed input and output: half of an L2 cache.
constexpr int64_t kBlockFloats = 256 * 1024;
constexpr int64_t kMostTiles = 256;
// If an image has fewer tiles, reading the filters from the cache takes too long.
constexpr int64_t kFewTiles = 48;
// Extra floats between elements, so that they map to different cache sets.
constexpr int64_t kLine = 16;

/// Forward or backward-data: y = x correlated with the filter, for each group.
struct WinogradPlan : conv::Correlation {
  WinogradForm form;
  int64_t images, groups;
  int64_t tiles_h, tiles_w, blocks, block_rows;  // block_rows: maximum rows of tiles in a block
  int64_t panel;                                 // number of outputs with adjacent filters

  WinogradPlan(const WinogradForm& tile, const ConvProblem& p)
      : Correlation(p),
        form(tile),
        images(p.n),
        groups(p.groups),
        tiles_h(ceil_div(out_h, form.outputs)),
        tiles_w(ceil_div(out_w, form.outputs)),
        panel(std::max<int64_t>(kWinogradChannels, cpu::gemm_kernels().columns())) {
    const int64_t channels = std::max<int64_t>(1, inputs + outputs);
    // Each block reads all filters. With more filters, a block takes more tiles.
    const int64_t fit = kBlockFloats / (form.elements() * channels);
    const int64_t tiles = std::min(kMostTiles, std::max(fit, inputs * outputs / channels));
    const int64_t share = ceil_div(rows(), thread_count());
    const int64_t most =
        std::clamp<int64_t>(tiles / std::max<int64_t>(1, tiles_w), 1, std::max<int64_t>(1, share));
    // Gives each thread the same number of blocks.
    const int64_t step = thread_count() / std::gcd<int64_t>(groups, thread_count());
    blocks = std::clamp<int64_t>(round_up(ceil_div(rows(), most), step), 1,
                                 std::max<int64_t>(1, rows()));
    block_rows = std::max<int64_t>(1, ceil_div(rows(), blocks));
  }
  int64_t rows() const { return images * tiles_h; }
  int64_t filter_size() const { return form.taps * form.taps; }
  int64_t panels() const { return ceil_div(outputs, panel); }
  int64_t filter_stride() const { return groups * panels() * panel * inputs + kLine; }
};

/// Layout: [element][group][panel of outputs][inputs][panel].
void transform_filter(const WinogradPlan& p, const float* filter, float* out) {
  const int64_t size = p.filter_size(),
                parts = conv::winograd_padded(p.outputs) / kWinogradChannels;
  parallel_for(p.groups * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / parts, k = i % parts * kWinogradChannels;
      const float* from = filter + group * p.outputs * p.inputs * size;
      float* to = out + (group * p.panels() + k / p.panel) * p.inputs * p.panel + k % p.panel;
      for (int64_t c = 0; c < p.inputs; ++c, to += p.panel)
        conv::winograd_filters(p.form,
                               from + (p.turned ? c * p.outputs + k : k * p.inputs + c) * size,
                               std::min(kWinogradChannels, p.outputs - k),
                               p.turned ? size : p.inputs * size, p.turned, to, p.filter_stride());
    }
  });
}

/// Computes some rows of tiles of one or several images in one group.
class Block {
 public:
  Block(const WinogradPlan& plan, int64_t group, int64_t row, int64_t rows)
      : p_(plan),
        group_(group),
        row_(row),
        rows_(rows),
        tiles_(rows * plan.tiles_w),
        in_{conv::winograd_padded(plan.inputs),
            conv::winograd_padded(plan.inputs) * tiles_ + kLine},
        out_{conv::winograd_padded(plan.outputs),
             conv::winograd_padded(plan.outputs) * tiles_ + kLine} {}

  /// Reads x, or the unpooled gradient. Writes y, or the next rows of `pooled`.
  void run(const float* x, const std::optional<conv::PoolingSource>& pooling, const float* filter,
           const ConvArgs& args, float* y, conv::PooledPlanes* pooled) const {
    const int64_t elements = p_.form.elements();
    float* in = conv::thread_scratch(0, elements * in_.element_stride);
    float* out = conv::thread_scratch(1, elements * out_.element_stride);
    float* scratch = conv::thread_scratch(2, conv::winograd_scratch_floats(p_.form, p_.tiles_w));
    each_strip(p_.inputs, p_.h, p_.w,
               [&](int64_t plane, const conv::WinogradStrip& strip, int64_t c, int64_t tile) {
                 float* to = in + tile * in_.tile_stride + c;
                 if (!pooling)
                   return conv::winograd_input(p_.form, strip, x + plane * p_.h * p_.w, p_.top,
                                               p_.left, scratch, to, in_);
                 const int64_t first = strip.tile_row * p_.form.outputs - p_.top;
                 const int64_t rows = strip.tile_rows * p_.form.outputs + p_.form.taps - 1;
                 const conv::UnpooledRows dy(*pooling, plane, strip.channels, first, first + rows);
                 conv::winograd_input(p_.form, of_rows(strip, dy.rows()), dy.data(), 0, p_.left,
                                      scratch, to, in_);
               });
    for (int64_t e = 0; e < elements; ++e)
      multiply(in + e * in_.element_stride,
               filter + e * p_.filter_stride() + group_ * p_.panels() * p_.inputs * p_.panel,
               out + e * out_.element_stride);
    const float* bias = args.bias ? args.bias->data<float>() + group_ * p_.outputs : nullptr;
    each_strip(
        p_.outputs, p_.out_h, p_.out_w,
        [&](int64_t plane, const conv::WinogradStrip& strip, int64_t k, int64_t tile) {
          const conv::WinogradFinish finish{bias ? bias + k : nullptr, args.activation, args.slope};
          const float* from = out + tile * out_.tile_stride + k;
          if (pooled)
            conv::winograd_output(p_.form, of_rows(strip, pooled->rows()), from, out_, finish,
                                  scratch, pooled->next() + k * pooled->rows() * p_.out_w);
          else
            conv::winograd_output(p_.form, strip, from, out_, finish, scratch,
                                  y + plane * p_.out_h * p_.out_w);
        });
    if (pooled) pooled->add(rows_ * p_.form.outputs);
  }

 private:
  /// Returns the same tiles at the top of planes with `rows` rows.
  static conv::WinogradStrip of_rows(conv::WinogradStrip strip, int64_t rows) {
    strip.h = rows, strip.tile_row = 0;
    return strip;
  }

  /// Multiplies one element of all tiles, [tiles][inputs], by the filters' panels.
  void multiply(const float* in, const float* filter, float* out) const {
    const auto& kernels = cpu::gemm_kernels();
    const int64_t pieces = ceil_div(tiles_, kernels.rows);
    for (int64_t k = 0; k < conv::winograd_padded(p_.outputs); k += kernels.columns()) {
      const float* b = filter + k / p_.panel * p_.inputs * p_.panel + k % p_.panel;
      const int64_t vectors =
          std::min<int64_t>(2, (conv::winograd_padded(p_.outputs) - k) / kernels.lanes);
      for (int64_t i = 0; i < pieces; ++i) {
        const int64_t tile = tiles_ * i / pieces, rows = tiles_ * (i + 1) / pieces - tile;
        kernels.tile[1][vectors - 1][rows - 1](p_.inputs, in + tile * in_.tile_stride,
                                               in_.tile_stride, b, p_.panel, {},
                                               out + tile * out_.tile_stride + k, out_.tile_stride);
      }
    }
  }

  /// Calls f(first plane, its strip, its first channel in the group, the number of its first tile
  /// in the block).
  template <typename F>
  void each_strip(int64_t channels, int64_t h, int64_t w, F f) const {
    conv::each_image(row_, rows_, p_.tiles_h,
                     [&](int64_t image, int64_t first, int64_t count, int64_t before) {
                       for (int64_t c = 0; c < channels; c += kWinogradChannels)
                         f((image * p_.groups + group_) * channels + c,
                           conv::WinogradStrip{std::min(kWinogradChannels, channels - c), h, w,
                                               first, count, p_.tiles_w},
                           c, before * p_.tiles_w);
                     });
  }

  const WinogradPlan& p_;
  int64_t group_, row_, rows_, tiles_;
  WinogradLayout in_, out_;
};

class Winograd final : public ConvSolver {
 public:
  Winograd(std::string_view name, WinogradForm form) : name_(name), form_(form) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    constexpr std::array<int64_t, 2> kOne{1, 1};
    return p.r == form_.taps && p.s == form_.taps && p.stride == kOne && p.dilation == kOne &&
           p.padding[0] < form_.taps && p.padding[1] < form_.taps && pays(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter) return conv::winograd_filter_bytes(form_, p);
    return prepared_bytes(p);
  }

  uint64_t prepared_bytes(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter) return 0;
    return static_cast<uint64_t>(form_.elements() * WinogradPlan(form_, p).filter_stride()) *
           sizeof(float);
  }

  void prepare(const ConvProblem& p, const Tensor& filter, Tensor& prepared) const override {
    transform_filter(WinogradPlan(form_, p), filter.data<float>(),
                     reinterpret_cast<float*>(prepared.overwrite<uint8_t>()));
  }

  bool fuses_pooling(const ConvProblem& p) const override {
    if (p.direction != ConvDirection::forward) return true;
    const WinogradPlan plan(form_, p);
    // A block covers several images and reads the filters once for all, unless the filters stay in
    // the cache.
    const bool small = form_.elements() * plan.inputs * plan.outputs <= kBlockFloats &&
                       plan.tiles_h * plan.tiles_w >= kFewTiles;
    return (small || plan.block_rows <= plan.tiles_h) &&
           conv::shares_evenly(plan.images * plan.groups);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    if (p.direction == ConvDirection::backward_filter)
      return conv::run_winograd_filter(form_, p, args);
    const WinogradPlan plan(form_, p);
    if (!args.prepared) prepare(p, *args.filter, *args.workspace);
    const auto* filter = reinterpret_cast<const float*>(
        (args.prepared ? args.prepared : args.workspace)->data<uint8_t>());
    if (args.pooling && !plan.turned) return run_pooled(plan, args, filter);
    std::optional<conv::PoolingSource> pooling;
    if (args.pooling) pooling.emplace(*args.pooling);
    const float* x = pooling ? nullptr : (plan.turned ? args.y : args.x)->data<float>();
    float* y = (plan.turned ? args.x : args.y)->overwrite<float>();
    const int64_t blocks = plan.blocks;
    parallel_for(plan.groups * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task % blocks, row = plan.rows() * i / blocks;
        Block(plan, task / blocks, row, plan.rows() * (i + 1) / blocks - row)
            .run(x, pooling, filter, args, y, nullptr);
      }
    });
    if (is_cheap(args.activation)) return;
    const int64_t plane = plan.out_h * plan.out_w;
    parallel_for(plan.images * plan.groups * plan.outputs, 8, [&](int64_t begin, int64_t end) {
      cpu::gemm_kernels().finish({.activation = args.activation, .slope = args.slope}, end - begin,
                                 plane, y + begin * plane, plane);
    });
  }

 private:
  /// Each thread computes whole images, in blocks from top to bottom.
  static void run_pooled(const WinogradPlan& plan, const ConvArgs& args, const float* filter) {
    const float* x = args.x->data<float>();
    const conv::PoolingTarget target(*args.pooling);
    const int64_t blocks = ceil_div(plan.tiles_h, plan.block_rows);
    const int64_t most = ceil_div(plan.tiles_h, blocks);
    parallel_for(plan.images * plan.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        conv::PooledPlanes pooled(target, task * plan.outputs, plan.outputs,
                                  most * plan.form.outputs);
        const int64_t top = task / plan.groups * plan.tiles_h;
        for (int64_t i = 0; i < blocks; ++i) {
          const int64_t row = plan.tiles_h * i / blocks;
          Block(plan, task % plan.groups, top + row, plan.tiles_h * (i + 1) / blocks - row)
              .run(x, {}, filter, args, nullptr, &pooled);
        }
      }
    });
  }

  /// Estimates whether this solver is faster. The constants are clock ticks, measured with 16
  /// lanes. kInput, kOutput and kFilter are for transforms, per element and channel. kShort and
  /// kLong are for products that sum few and many terms.
  bool pays(const ConvProblem& p) const {
    constexpr double kInput = 0.6, kOutput = 0.5, kFilter = 1.25, kShort = 2.0 / 45,
                     kLong = 1.0 / 51, kClearly = 0.85;
    const WinogradPlan plan(form_, p);
    const double in = static_cast<double>(plan.inputs), out = static_cast<double>(plan.outputs);
    const double tiles = static_cast<double>(plan.rows() * plan.tiles_w);
    const double element = tiles * (kShort * in * out + kInput * in + kOutput * out);
    return static_cast<double>(form_.elements() * plan.groups) * (element + kFilter * in * out) <
           kClearly * kLong * p.flops();
  }

  std::string_view name_;
  WinogradForm form_;
};

}  // namespace

std::span<const ConvSolver* const> winograd_solvers() {
  static const Winograd wide("winograd4x4_3x3", {4, 3});
  static const Winograd large("winograd2x2_5x5", {2, 5});
  static const Winograd exact("winograd2x2_3x3", {2, 3});
  static const ConvSolver* const solvers[] = {&wide, &large, &exact};
  return solvers;
}

}  // namespace kaiseki
