// SPDX-License-Identifier: MIT
// Convolution by the fast Fourier transform, for filters from 5 x 5. Tiles of 16 x 16 or 32 x 32
// overlap. Tiles and filters are transformed (cl_kernels/conv_fft.cl). Each frequency is then a
// product of complex matrices, computed as a real product with twice the rows and depth. The
// results are transformed back. Tiles are processed in slices.
#include <algorithm>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/conv/transformed.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/conv/correlation.h"
#include "matrix/conv/fft_tiles.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kSlack = 16;  // avoids distances of whole pages between elements
constexpr int64_t kLeastTiles = 128;
// Floats per slice.
constexpr int64_t kCpuFloats = int64_t{4} << 20, kGpuFloats = int64_t{64} << 20;

/// The layout of the complex values of one element: channels, each with one value per tile or
/// filter. The twin of a factor stores (-imaginary, real).
struct Spectrum {
  int64_t count, channels, element_stride, channel_stride, imaginary, twin = 0;
};

/// All directions are products [2 m, depth] [depth, n] for each element. m: output channels.
/// Forward and backward-data: depth is twice the input channels, n the tiles. Backward-filter:
/// depth is twice the tiles, n the input channels. The left factor has twins.
struct FftProducts : conv::Correlation {
  bool gradient, on_cpu;
  int64_t images, size, tile_h, tile_w, tiles_h, tiles_w, slice;  // slice: number of tiles

  FftProducts(int64_t size, const ConvProblem& p, Style style)
      : Correlation(p),
        gradient(p.direction == ConvDirection::backward_filter),
        on_cpu(style == Style::cpu),
        images(p.n),
        size(size),
        tile_h(size - p.r + 1),
        tile_w(size - p.s + 1),
        tiles_h(ceil_div(out_h, tile_h)),
        tiles_w(ceil_div(out_w, tile_w)) {
    const int64_t each = 2 * elements() * (inputs + 2 * outputs);
    const int64_t fit = std::max((on_cpu ? kCpuFloats : kGpuFloats) / each, kLeastTiles);
    const int64_t slices = ceil_div(tiles(), fit);
    slice = slices ? ceil_div(tiles(), slices) : 0;
  }
  int64_t columns() const { return size / 2 + 1; }
  int64_t elements() const { return columns() * size; }
  int64_t tiles() const { return images * tiles_h * tiles_w; }

  Spectrum left_factor(int64_t count) const {
    return {count, outputs, stride(4 * outputs * count), 2 * count, count, 2 * outputs * count};
  }
  Spectrum filter() const { return left_factor(inputs); }
  Spectrum right_factor(int64_t count) const {
    const int64_t element = stride(2 * inputs * count);
    return gradient ? Spectrum{count, inputs, element, 2 * count, count}
                    : Spectrum{count, inputs, element, count, inputs * count};
  }
  Spectrum product(int64_t count) const {
    return {count, outputs, stride(2 * outputs * count), count, outputs * count};
  }
  int64_t left_floats() const { return floats(left_factor(gradient ? slice : inputs)); }
  int64_t right_floats() const { return floats(right_factor(slice)); }
  int64_t product_floats() const { return floats(product(gradient ? inputs : slice)); }

 private:
  static int64_t stride(int64_t floats) { return round_up(floats, 16) + kSlack; }
  int64_t floats(const Spectrum& s) const { return elements() * s.element_stride; }
};

Tensor part(const Tensor& t, int64_t first) {
  return t.reshape(Shape{t.size()}).slice(0, first, t.size() - first);
}

int32_t narrow(int64_t value) { return static_cast<int32_t>(value); }

/// Launches the kernels for one group.
class Transforms {
 public:
  Transforms(const FftProducts& plan, const ConvProblem& p, Device device)
      : plan_(plan), p_(p), device_(static_cast<OpenclBackend&>(device.backend()).opencl()) {}

  struct Planes {
    int64_t channels, h, w, top, left, rows, columns;  // rows and columns of a tile
  };

  /// Transforms tiles of the group's channels, from `first` on, as many as `s` has.
  void tiles(const Planes& planes, int64_t first, const Tensor& from, int64_t group,
             const Spectrum& s, bool twin, Tensor& to) const {
    const int64_t plane = planes.h * planes.w;
    Launch launch = start("fft_tiles", s);
    launch.index(s.count).index(first).arg(narrow(plan_.tiles_h)).arg(narrow(plan_.tiles_w));
    launch.arg(narrow(plan_.tile_h)).arg(narrow(plan_.tile_w));
    launch.arg(narrow(planes.rows)).arg(narrow(planes.columns));
    launch.arg(narrow(planes.h)).arg(narrow(planes.w));
    launch.arg(narrow(planes.top)).arg(narrow(planes.left));
    launch.index(p_.groups * planes.channels * plane);
    strides(launch, s).in(part(from, group * planes.channels * plane)).out(to);
    over(launch, s, (planes.rows + 1) / 2);
    columns(s, planes.rows, twin ? s.twin : 0, to);
  }

  void filters(const Tensor& filter, int64_t group, Tensor& to) const {
    const Spectrum s = plan_.filter();
    Launch launch = start("fft_filters", s);
    launch.index(s.count).index(s.channels);
    launch.arg(narrow(p_.r)).arg(narrow(p_.s)).arg(narrow(plan_.turned));
    strides(launch, s).in(filter_of(filter, group)).out(to);
    over(launch, s, (p_.r + 1) / 2);
    columns(s, p_.r, s.twin, to);
  }

  void output(int64_t first, Tensor& product, int64_t group, const ConvArgs& args,
              const Spectrum& s) const {
    columns_back(s, product);
    const int64_t plane = plan_.out_h * plan_.out_w;
    Tensor y = part(plan_.turned ? *args.x : *args.y, group * s.channels * plane), bias;
    if (args.bias) bias = part(*args.bias, group * s.channels);
    Launch launch = start("fft_output", s,
                          define("BIAS", args.bias != nullptr) +
                              define("ACTIVATION", static_cast<int>(args.activation)));
    launch.index(s.count).index(first).arg(narrow(plan_.tiles_h)).arg(narrow(plan_.tiles_w));
    launch.arg(narrow(plan_.tile_h)).arg(narrow(plan_.tile_w));
    launch.arg(narrow(plan_.out_h)).arg(narrow(plan_.out_w));
    launch.index(p_.groups * s.channels * plane);
    strides(launch, s).arg(args.slope).in(product).optional(args.bias ? &bias : nullptr).in_out(y);
    over(launch, s, (plan_.tile_h + 1) / 2);
  }

  void gradient(Tensor& product, int64_t group, const ConvArgs& args) const {
    const Spectrum s = plan_.product(plan_.inputs);
    columns_back(s, product);
    Tensor filter = filter_of(*args.filter, group);
    Launch launch = start("fft_gradient", s);
    launch.index(s.count).arg(narrow(p_.r)).arg(narrow(p_.s));
    strides(launch, s).arg(args.beta).in(product).in_out(filter);
    over(launch, s, (p_.r + 1) / 2);
  }

 private:
  int64_t lanes(const Spectrum& s) const { return !plan_.on_cpu ? 1 : s.count > 4 ? 16 : 4; }

  Launch start(std::string_view kernel, const Spectrum& s, const std::string& more = "") const {
    return {device_, "conv_fft.cl", kernel,
            define("SIZE", plan_.size) + define("LANES", lanes(s)) + more};
  }

  static Launch& strides(Launch& launch, const Spectrum& s) {
    return launch.index(s.element_stride).index(s.channel_stride).index(s.imaginary);
  }

  void over(Launch& launch, const Spectrum& s, int64_t lines) const {
    if (plan_.on_cpu)
      launch.over_groups({static_cast<size_t>(lines * s.channels), 1, 1}, {1, 1, 1});
    else
      launch.over(s.count, lines * s.channels);
  }

  void columns(const Spectrum& s, int64_t rows, int64_t twin, Tensor& values) const {
    Launch launch = start("fft_columns", s);
    strides(launch.index(s.count).arg(narrow(rows)), s).index(twin).in_out(values);
    over(launch, s, plan_.columns());
  }

  /// Exchanges the real and imaginary parts, which makes the transform an inverse.
  void columns_back(Spectrum s, Tensor& values) const {
    Tensor from_imaginary = part(values, s.imaginary);
    s.imaginary = -s.imaginary;
    columns(s, plan_.size, 0, from_imaginary);
  }

  Tensor filter_of(const Tensor& filter, int64_t group) const {
    return part(filter, group * plan_.outputs * plan_.inputs * p_.r * p_.s);
  }

  const FftProducts& plan_;
  const ConvProblem& p_;
  OpenclDevice& device_;
};

/// Computes left * right for one slice.
void multiply(const FftProducts& plan, OpenclBackend& backend, const Spectrum& left,
              const Spectrum& right, const Spectrum& product, bool add, const Tensor& a,
              const Tensor& b, Tensor& c) {
  GemmArgs g{.trans_b = plan.gradient,
             .m = 2 * plan.outputs,
             .n = product.count,
             .k = 2 * left.count,
             .batch = plan.elements(),
             .beta = add ? 1.0f : 0.0f};
  g.a = &a, g.b = &b, g.c = &c;
  g.lda = g.k, g.ldb = plan.gradient ? g.k : g.n, g.ldc = g.n;
  g.stride_a = left.element_stride, g.stride_b = right.element_stride;
  g.stride_c = product.element_stride;
  backend.run(kGemm, g);
}

class FftSolver : public ConvSolver {
 public:
  FftSolver(std::string_view name, int64_t size, Style style)
      : name_(name), size_(size), style_(style) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    return fft_supports(size_, p) && workspace_bytes(p) <= kMostFftWorkspace;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return transformed_bytes(FftProducts(size_, p, style_));
  }

  uint64_t prepared_bytes(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter) return 0;
    return left_bytes(FftProducts(size_, p, style_), p.groups);
  }

  void prepare(const ConvProblem& p, const Tensor& filter, Tensor& prepared) const override {
    const FftProducts plan(size_, p, style_);
    for (int64_t group = 0; group < p.groups; ++group) {
      Tensor to = prepared_part(plan, prepared, group);
      Transforms(plan, p, filter.device()).filters(filter, group, to);
    }
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const FftProducts plan(size_, p, style_);
    const Transforms transforms(plan, p, args.x->device());
    Tensor left = workspace_part(args, 0, plan.left_floats());
    Tensor right = workspace_part(args, plan.left_floats(), plan.right_floats());
    Tensor product =
        workspace_part(args, plan.left_floats() + plan.right_floats(), plan.product_floats());
    const Transforms::Planes in{plan.inputs, plan.h, plan.w, plan.top, plan.left, size_, size_};
    const Transforms::Planes dy{plan.outputs, plan.out_h, plan.out_w, 0, 0,
                                plan.tile_h,  plan.tile_w};
    for (int64_t group = 0; group < p.groups; ++group) {
      if (args.prepared)
        left = prepared_part(plan, *args.prepared, group);
      else if (!plan.gradient)
        transforms.filters(*args.filter, group, left);
      for (int64_t first = 0; first < plan.tiles(); first += plan.slice) {
        const int64_t count = std::min(plan.slice, plan.tiles() - first);
        const Spectrum a = plan.left_factor(plan.gradient ? count : plan.inputs),
                       b = plan.right_factor(count);
        const Spectrum c = plan.product(plan.gradient ? plan.inputs : count);
        transforms.tiles(in, first, plan.turned ? *args.y : *args.x, group, b, false, right);
        if (plan.gradient) transforms.tiles(dy, first, *args.y, group, a, true, left);
        multiply(plan, backend_of(args), a, b, c, plan.gradient && first > 0, left, right, product);
        if (!plan.gradient) transforms.output(first, product, group, args, c);
      }
      if (plan.gradient) transforms.gradient(product, group, args);
    }
  }

 private:
  std::string_view name_;
  int64_t size_;
  Style style_;
};

}  // namespace

std::span<const ConvSolver* const> conv_fft_solvers(Style style) {
  static const FftSolver cpu_large("opencl_fft32x32", 32, Style::cpu);
  static const FftSolver cpu_small("opencl_fft16x16", 16, Style::cpu);
  static const FftSolver gpu_large("opencl_fft32x32", 32, Style::gpu);
  static const FftSolver gpu_small("opencl_fft16x16", 16, Style::gpu);
  static const ConvSolver* const cpu[] = {&cpu_large, &cpu_small};
  static const ConvSolver* const gpu[] = {&gpu_large, &gpu_small};
  if (style == Style::cpu) return cpu;
  return gpu;
}

}  // namespace kaiseki::opencl
