// SPDX-License-Identifier: MIT
// Convolution as one matrix product that reads its factors in place. Made for GPUs
// (cl_kernels/conv_implicit_gemm.cl).
#include <algorithm>

#include "matrix/backend/opencl/conv/solvers.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/tile_product.h"
#include "matrix/backend/operations/reduce.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kLeastChannels = 16;  // per group on CPUs, where empty parts of a tile cost time

/// A product of one group, [m, depth] by [depth, n].
struct ImplicitProduct {
  int64_t m, n, depth;
};

ImplicitProduct product_of(const ConvProblem& p) {
  const int64_t k = p.k / p.groups, c = p.c / p.groups, taps = p.r * p.s;
  switch (p.direction) {
    case ConvDirection::forward:
      return {k, p.n * p.out_h() * p.out_w(), c * taps};
    case ConvDirection::backward_data:
      return {c, p.n * p.h * p.w, k * taps};
    case ConvDirection::backward_filter:
      break;
  }
  return {k, c * taps, p.n * p.out_h() * p.out_w()};
}

class ImplicitGemmSolver : public ConvSolver {
 public:
  enum class Kind : uint8_t {
    plain,    // without workspace
    divided,  // the filter's gradient in parts
    wide,     // in parts, with the largest tiles
  };

  ImplicitGemmSolver(std::string_view name, Style style, Kind kind)
      : name_(name), style_(style), kind_(kind) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    const ImplicitProduct product = product_of(p);
    if (kind_ == Kind::wide && std::min(product.m, product.n) <= kTile32.m) return false;
    if (kind_ == Kind::divided) return split_of(p, tile_of(p)).parts > 1;
    return style_ == Style::gpu || std::min(p.k, p.c) / p.groups >= kLeastChannels;
  }

  /// The results of the parts of a filter's gradient.
  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const Split split = split_of(p, tile_of(p));
    return split.parts > 1 ? static_cast<uint64_t>(split.parts * filter_size(p)) * sizeof(float)
                           : 0;
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    switch (p.direction) {
      case ConvDirection::forward:
        return multiply(p, args, {*args.filter, *args.x, *args.y}, {1, product_of(p).depth});
      case ConvDirection::backward_data:
        return multiply(p, args, {*args.filter, *args.y, *args.x}, {1, product_of(p).depth});
      case ConvDirection::backward_filter:
        return backward_filter(p, args);
    }
  }

 private:
  struct Factors {
    const Tensor &left, &right;
    Tensor& to;
  };
  /// The terms of a product in `parts` parts of `span`.
  struct Split {
    int64_t parts, span;
  };

  static int64_t filter_size(const ConvProblem& p) { return p.k * (p.c / p.groups) * p.r * p.s; }

  const ProductTile& tile_of(const ConvProblem& p) const {
    const ImplicitProduct product = product_of(p);
    const bool gradient = p.direction == ConvDirection::backward_filter;
    if (kind_ == Kind::wide) {
      if (product.m <= kTile64x128.m) return kTile64x128;
      return gradient ? kTile128Half : kTile128;
    }
    return std::min(product.m, product.n) <= kTile32.m ? kTile32 : kTile64;
  }

  /// A filter's gradient has few tiles and many terms. The same parts on every device give the same
  /// bits.
  Split split_of(const ConvProblem& p, const ProductTile& tile) const {
    constexpr int64_t kWantedTiles = 512, kLeastTerms = 256;
    const ImplicitProduct product = product_of(p);
    if (p.direction != ConvDirection::backward_filter || kind_ == Kind::plain ||
        product.depth <= kLeastTerms)
      return {1, product.depth};
    const int64_t tiles = p.groups * tile_count(product.m, tile.m) * tile_count(product.n, tile.n);
    const int64_t wanted = std::clamp<int64_t>(tile_count(kWantedTiles, tiles), 1,
                                               tile_count(product.depth, kLeastTerms));
    const int64_t span = tile_count(tile_count(product.depth, wanted), tile.k) * tile.k;
    return {tile_count(product.depth, span), span};
  }

  void backward_filter(const ConvProblem& p, const ConvArgs& args) const {
    const Split split = split_of(p, tile_of(p));
    if (split.parts == 1) return multiply(p, args, {*args.y, *args.x, *args.filter}, split);
    Tensor parts = workspace_part(args, 0, split.parts * filter_size(p));
    multiply(p, args, {*args.y, *args.x, parts}, split);
    const int64_t size = filter_size(p) / p.groups;
    Tensor filter = args.filter->reshape({p.groups, size});
    backend_of(args).run(kReduce, {.kind = Reduction::sum,
                                   .input = &parts,
                                   .shape = {p.groups, split.parts, size},
                                   .reduced = {false, true},
                                   .output = &filter,
                                   .beta = args.beta});
  }

  void multiply(const ConvProblem& p, const ConvArgs& args, const Factors& factors,
                const Split& split) const {
    const ImplicitProduct product = product_of(p);
    const ProductTile& tile = tile_of(p);
    OpenclDevice& device = backend_of(args).opencl();
    const bool forward = p.direction == ConvDirection::forward;
    const bool gradient = p.direction == ConvDirection::backward_filter;
    const int64_t pixels = p.out_h() * p.out_w();
    const bool whole_a = has_whole_vectors(factors.left, forward ? product.depth : pixels,
                                           gradient ? split.span : 0, 0);
    const int64_t row = gradient ? product.n : forward ? pixels : p.h * p.w;
    const auto activation = static_cast<int>(forward ? args.activation : Activation::none);
    Launch launch(device, "tile_product.cl+conv_implicit_gemm.cl", "conv_implicit_gemm",
                  window_options(p) + tile_options(tile) +
                      define("DIRECTION", static_cast<int>(p.direction)) +
                      define("WHOLE_A", whole_a) +
                      define("WHOLE_C", has_whole_vectors(factors.to, row, 0, 0)) +
                      define("BIAS", forward && args.bias) + define("ACTIVATION", activation));
    launch.index(product.m).index(product.n).index(product.depth);
    launch.index(split.parts).index(split.span);
    for (int64_t value : {p.groups, p.k / p.groups, p.c / p.groups, p.h, p.w, p.out_h(), p.out_w()})
      launch.arg(static_cast<int32_t>(value));
    const float beta = split.parts > 1 ? 0.0f : args.beta;
    launch.arg(beta)
        .arg(args.slope)
        .in(factors.left)
        .in(factors.right)
        .optional(forward ? args.bias : nullptr);
    beta == 0 ? launch.out(factors.to) : launch.in_out(factors.to);
    launch.over_groups({static_cast<size_t>(tile_count(product.n, tile.n)),
                        static_cast<size_t>(tile_count(product.m, tile.m)),
                        static_cast<size_t>(p.groups * split.parts)},
                       {tile.items(), 1, 1});
  }

  std::string_view name_;
  Style style_;
  Kind kind_;
};

}  // namespace

std::span<const ConvSolver* const> conv_implicit_gemm_solvers(Style style) {
  using Kind = ImplicitGemmSolver::Kind;
  static const ImplicitGemmSolver cpu("opencl_implicit_gemm", Style::cpu, Kind::plain);
  static const ImplicitGemmSolver divided("opencl_implicit_gemm_divided", Style::gpu,
                                          Kind::divided);
  static const ImplicitGemmSolver wide("opencl_implicit_gemm_wide", Style::gpu, Kind::wide);
  static const ImplicitGemmSolver gpu("opencl_implicit_gemm", Style::gpu, Kind::plain);
  static const ConvSolver* const on_cpu[] = {&cpu};
  static const ConvSolver* const on_gpu[] = {&divided, &gpu, &wide};
  if (style == Style::cpu) return on_cpu;
  return on_gpu;
}

}  // namespace kaiseki::opencl
