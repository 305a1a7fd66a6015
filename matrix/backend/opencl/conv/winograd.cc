// SPDX-License-Identifier: MIT
// Winograd's minimal filtering with tiles of 6 x 6 or 4 x 4, in slices of rows of tiles. Planes and
// filters are transformed. Each element of a tile is then a matrix product. The results are
// transformed back (cl_kernels/winograd_*.cl). Lavin and Gray, "Fast algorithms for convolutional
// neural networks" (2015), section 4.
#include <algorithm>
#include <bit>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/conv/transformed.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/conv/correlation.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kLongestRow = 4096;  // limited because rows are held in private memory
constexpr int64_t kSlack = 16;         // avoids distances of whole pages between elements
constexpr int64_t kLeastTiles = 256;
// Floats per slice.
constexpr int64_t kCpuFloats = int64_t{1} << 20, kGpuFloats = int64_t{16} << 20;

struct WinogradTiling {
  int64_t outputs, taps;
  int64_t tile() const { return outputs + taps - 1; }
};

/// Computes all directions as products [m, depth] [depth, n] for each element. Forward and
/// backward-data: m output channels, `depth` input channels, n tiles. Backward-filter: m output
/// channels, n input channels, depth is the number of tiles.
struct WinogradProducts : conv::Correlation {
  bool gradient, on_cpu;
  int64_t elements, tiles_h, tiles_w, rows;  // rows: rows of tiles per slice

  WinogradProducts(const WinogradTiling& form, const ConvProblem& p, Style style)
      : Correlation(p),
        gradient(p.direction == ConvDirection::backward_filter),
        on_cpu(style == Style::cpu),
        elements(form.tile() * form.tile()),
        tiles_h(ceil_div(out_h, form.outputs)),
        tiles_w(ceil_div(out_w, form.outputs)) {
    if (on_cpu) tiles_w = std::max<int64_t>(tiles_w, 2);
    const int64_t all = std::max<int64_t>(1, p.n * tiles_h);
    const int64_t each = elements * (inputs + outputs) * tiles_w;
    const int64_t fit =
        std::max({int64_t{1}, (on_cpu ? kCpuFloats : kGpuFloats) / each, kLeastTiles / tiles_w});
    const int64_t slices = ceil_div(all, fit);
    rows = ceil_div(all, slices);
  }
  int64_t tiles() const { return rows * tiles_w; }
  /// Floats of the two factors and of the products.
  int64_t left_floats() const { return matrix(outputs * (gradient ? tiles() : inputs)); }
  int64_t right_floats() const { return matrix(inputs * tiles()); }
  int64_t product_floats() const { return matrix(outputs * (gradient ? inputs : tiles())); }

  static int64_t stride(int64_t floats) { return round_up(floats, 16) + kSlack; }

 private:
  int64_t matrix(int64_t floats) const { return elements * stride(floats); }
};

/// The number of vector lanes on a CPU, as many as `count` values fill.
int64_t lanes(const WinogradProducts& plan, int64_t count) {
  if (!plan.on_cpu) return 1;
  for (int64_t n : {16, 8, 4})
    if (count >= n) return n;
  return 2;
}

Tensor part(const Tensor& t, int64_t first) {
  return t.reshape(Shape{t.size()}).slice(0, first, t.size() - first);
}

/// Rounds the row length up so that rows of similar length share a program.
std::string options(const WinogradTiling& form, const WinogradProducts& plan, int64_t lanes) {
  const auto pixels = static_cast<uint64_t>(form.outputs * plan.tiles_w + form.tile());
  const auto row = plan.on_cpu ? static_cast<int64_t>(std::bit_ceil(pixels)) : 0;
  return define("OUTPUTS", form.outputs) + define("TAPS", form.taps) + define("LANES", lanes) +
         define("ROW", row);
}

void over_filters(const WinogradProducts& plan, Launch& launch) {
  if (plan.on_cpu)
    launch.over_groups({static_cast<size_t>(plan.outputs), 1, 1}, {1, 1, 1});
  else
    launch.over(plan.outputs * plan.inputs);
}

/// Transforms the filters of one group. Writes left_floats() values.
void transform_filter(const WinogradTiling& form, const WinogradProducts& plan,
                      const Tensor& filter, int64_t group, Tensor to) {
  auto& backend = static_cast<OpenclBackend&>(filter.device().backend());
  Launch launch(backend.opencl(), "winograd_input.cl", "winograd_filter",
                options(form, plan, lanes(plan, plan.inputs)) + define("GRADIENT", 0) +
                    define("TURNED", plan.turned));
  const int64_t filters = plan.outputs * plan.inputs;
  launch.index(filters)
      .arg(static_cast<int32_t>(plan.outputs))
      .arg(static_cast<int32_t>(plan.inputs))
      .index(WinogradProducts::stride(filters))
      .in(part(filter, group * filters * form.taps * form.taps))
      .out(to);
  over_filters(plan, launch);
}

class WinogradRun {
 public:
  WinogradRun(const WinogradTiling& form, const WinogradProducts& plan, const ConvProblem& p,
              const ConvArgs& args)
      : form_(form),
        plan_(plan),
        p_(p),
        args_(args),
        backend_(backend_of(args)),
        device_(backend_.opencl()),
        left_(workspace_part(args, 0, plan.left_floats())),
        right_(workspace_part(args, plan.left_floats(), plan.right_floats())),
        product_(workspace_part(args, plan.left_floats() + plan.right_floats(),
                                plan.product_floats())) {}

  void group(int64_t group) {
    const int64_t all = p_.n * plan_.tiles_h;
    if (args_.prepared)
      left_ = prepared_part(plan_, *args_.prepared, group);
    else if (!plan_.gradient)
      transform_filter(form_, plan_, *args_.filter, group, left_);
    for (int64_t row = 0; row < all; row += plan_.rows) {
      const int64_t rows = std::min(plan_.rows, all - row);
      if (plan_.gradient) {
        transform_planes(*args_.y, group,
                         {row, rows, true, plan_.outputs, plan_.out_h, plan_.out_w}, left_);
        transform_planes(*args_.x, group, {row, rows, false, plan_.inputs, plan_.h, plan_.w},
                         right_);
      } else {
        transform_planes(plan_.turned ? *args_.y : *args_.x, group,
                         {row, rows, false, plan_.inputs, plan_.h, plan_.w}, right_);
      }
      multiply(row, rows * plan_.tiles_w);
      if (!plan_.gradient) write_planes(group, row, rows);
    }
    if (plan_.gradient) write_filter(group);
  }

 private:
  struct Planes {
    int64_t row, rows;  // rows of tiles
    bool gradient;
    int64_t channels, h, w;
  };

  void over_planes(Launch& launch, int64_t tiles, int64_t channels) const {
    if (plan_.on_cpu)
      launch.over_groups({static_cast<size_t>(channels), 1, 1}, {1, 1, 1});
    else
      launch.over(tiles, channels);
  }

  Launch planes_launch(std::string_view file, std::string_view kernel, const Planes& planes,
                       const std::string& more) const {
    Launch launch(device_, file, kernel, options(form_, plan_, lanes(plan_, plan_.tiles_w)) + more);
    launch.index(planes.rows * plan_.tiles_w)
        .arg(static_cast<int32_t>(planes.row))
        .arg(static_cast<int32_t>(plan_.tiles_h))
        .arg(static_cast<int32_t>(plan_.tiles_w))
        .arg(static_cast<int32_t>(planes.h))
        .arg(static_cast<int32_t>(planes.w));
    return launch;
  }

  void transform_planes(const Tensor& from, int64_t group, const Planes& planes, Tensor& to) {
    const int64_t tiles = planes.rows * plan_.tiles_w, plane = planes.h * planes.w;
    Launch launch = planes_launch("winograd_input.cl", "winograd_input", planes,
                                  define("GRADIENT", planes.gradient) + define("TURNED", 0));
    launch.arg(static_cast<int32_t>(planes.gradient ? 0 : plan_.top))
        .arg(static_cast<int32_t>(planes.gradient ? 0 : plan_.left))
        .index(p_.groups * planes.channels * plane)
        .index(WinogradProducts::stride(planes.channels * tiles))
        .in(part(from, group * planes.channels * plane))
        .out(to);
    over_planes(launch, tiles, planes.channels);
  }

  void multiply(int64_t row, int64_t tiles) {
    GemmArgs g{.m = plan_.outputs, .n = tiles, .k = plan_.inputs, .batch = plan_.elements};
    if (plan_.gradient) {
      g.trans_b = true;
      g.n = plan_.inputs, g.k = tiles;
      g.beta = row == 0 ? 0.0f : 1.0f;
    }
    g.a = &left_, g.b = &right_, g.c = &product_;
    g.lda = g.k, g.ldb = tiles, g.ldc = g.n;
    g.stride_a = WinogradProducts::stride(g.m * g.k);
    g.stride_b = WinogradProducts::stride(g.n * g.k);
    g.stride_c = WinogradProducts::stride(g.m * g.n);
    backend_.run(kGemm, g);
  }

  void write_planes(int64_t group, int64_t row, int64_t rows) {
    const int64_t tiles = rows * plan_.tiles_w, plane = plan_.out_h * plan_.out_w;
    Tensor out = part(plan_.turned ? *args_.x : *args_.y, group * plan_.outputs * plane), bias;
    if (args_.bias) bias = part(*args_.bias, group * plan_.outputs);
    Launch launch = planes_launch("winograd_output.cl", "winograd_output",
                                  {row, rows, false, plan_.outputs, plan_.out_h, plan_.out_w},
                                  define("BIAS", args_.bias != nullptr) +
                                      define("ACTIVATION", static_cast<int>(args_.activation)));
    launch.index(p_.groups * plan_.outputs * plane)
        .index(WinogradProducts::stride(plan_.outputs * tiles))
        .arg(args_.slope)
        .in(product_)
        .optional(args_.bias ? &bias : nullptr)
        .in_out(out);
    over_planes(launch, tiles, plan_.outputs);
  }

  void write_filter(int64_t group) {
    const int64_t filters = plan_.outputs * plan_.inputs;
    Tensor filter = part(*args_.filter, group * filters * form_.taps * form_.taps);
    Launch launch(device_, "winograd_output.cl", "winograd_gradient",
                  options(form_, plan_, lanes(plan_, plan_.inputs)) + define("BIAS", 0));
    launch.index(filters)
        .arg(static_cast<int32_t>(plan_.inputs))
        .index(WinogradProducts::stride(filters))
        .arg(args_.beta)
        .in(product_)
        .in_out(filter);
    over_filters(plan_, launch);
  }

  const WinogradTiling& form_;
  const WinogradProducts& plan_;
  const ConvProblem& p_;
  const ConvArgs& args_;
  OpenclBackend& backend_;
  OpenclDevice& device_;
  Tensor left_, right_, product_;
};

class WinogradSolver : public ConvSolver {
 public:
  WinogradSolver(std::string_view name, WinogradTiling form, Style style)
      : name_(name), form_(form), style_(style) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    constexpr std::array<int64_t, 2> kOne{1, 1};
    return p.r == form_.taps && p.s == form_.taps && p.stride == kOne && p.dilation == kOne &&
           p.padding[0] < form_.taps && p.padding[1] < form_.taps && p.n > 0 &&
           std::max(p.w, p.out_w()) <= kLongestRow && pays(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return transformed_bytes(WinogradProducts(form_, p, style_));
  }

  uint64_t prepared_bytes(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter) return 0;
    return left_bytes(WinogradProducts(form_, p, style_), p.groups);
  }

  void prepare(const ConvProblem& p, const Tensor& filter, Tensor& prepared) const override {
    const WinogradProducts plan(form_, p, style_);
    for (int64_t group = 0; group < p.groups; ++group)
      transform_filter(form_, plan, filter, group, prepared_part(plan, prepared, group));
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const WinogradProducts plan(form_, p, style_);
    for (int64_t group = 0; group < p.groups; ++group)
      WinogradRun(form_, plan, p, args).group(group);
  }

 private:
  /// Transforms cost as much as products over this many channels, as measured with PoCL.
  bool pays(const ConvProblem& p) const {
    const int64_t c = p.c / p.groups, k = p.k / p.groups;
    const int64_t least = form_.outputs == 4 ? 32 : 64;
    return 2 * c * k >= least * (c + k);
  }

  std::string_view name_;
  WinogradTiling form_;
  Style style_;
};

}  // namespace

std::span<const ConvSolver* const> conv_winograd_solvers(Style style) {
  static const WinogradSolver cpu_wide("opencl_winograd4x4_3x3", {4, 3}, Style::cpu);
  static const WinogradSolver cpu_large("opencl_winograd2x2_5x5", {2, 5}, Style::cpu);
  static const WinogradSolver cpu_exact("opencl_winograd2x2_3x3", {2, 3}, Style::cpu);
  static const WinogradSolver gpu_wide("opencl_winograd4x4_3x3", {4, 3}, Style::gpu);
  static const WinogradSolver gpu_large("opencl_winograd2x2_5x5", {2, 5}, Style::gpu);
  static const WinogradSolver gpu_exact("opencl_winograd2x2_3x3", {2, 3}, Style::gpu);
  static const ConvSolver* const cpu[] = {&cpu_wide, &cpu_large, &cpu_exact};
  static const ConvSolver* const gpu[] = {&gpu_wide, &gpu_large, &gpu_exact};
  if (style == Style::cpu) return cpu;
  return gpu;
}

}  // namespace kaiseki::opencl
