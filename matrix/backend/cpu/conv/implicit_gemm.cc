// SPDX-License-Identifier: MIT
// Implicit GEMM, forward and backward-data. The matrix of im2col is never stored. Blocks of input
// are packed while they are in the cache, once for each column of the filter. Any stride, padding,
// dilation and groups.
#include <algorithm>
#include <optional>
#include <vector>

#include "matrix/backend/cpu/conv/product.h"
#include "matrix/backend/cpu/conv/solvers.h"

namespace kaiseki {
namespace {

// Products that a block sums; the filter's panel stays in the L1 cache.
constexpr int64_t kDepth = 512;

std::vector<conv::Gather> gathers(const ConvProblem& p) {
  std::vector<conv::Gather> all;
  if (p.direction == ConvDirection::forward) {
    all.emplace_back(
        p.c / p.groups,
        conv::forward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]),
        conv::forward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]), kDepth);
    return all;
  }
  for (auto& rows :
       conv::backward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]))
    for (auto& columns :
         conv::backward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]))
      all.emplace_back(p.k / p.groups, rows, columns, kDepth);
  return all;
}

conv::ConvProduct product(const ConvProblem& p) {
  const int64_t size = p.r * p.s, filter = p.c / p.groups * size;
  conv::ConvProduct product{};
  product.images = p.n;
  product.groups = p.groups;
  product.filter_group = p.k / p.groups * filter;
  product.filter_columns = p.s;
  if (p.direction == ConvDirection::forward) {
    product.m = p.k / p.groups;
    product.filter_m = filter;
    product.filter_channel = size;
    product.plane_h = p.out_h();
    product.plane_w = p.out_w();
  } else {
    product.m = p.c / p.groups;
    product.filter_m = size;
    product.filter_channel = filter;
    product.plane_h = p.h;
    product.plane_w = p.w;
  }
  return product;
}

class ImplicitGemm final : public ConvSolver {
 public:
  std::string_view name() const override { return "implicit_gemm"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction != ConvDirection::backward_filter;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    int64_t floats = 0;
    for (const auto& gather : gathers(p))
      floats = std::max(floats, packed_filter_floats(product(p), gather));
    return static_cast<uint64_t>(floats) * sizeof(float);
  }

  bool fuses_pooling(const ConvProblem& p) const override {
    return p.direction == ConvDirection::forward && conv::shares_evenly(p.n * p.groups);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    std::optional<conv::PoolingTarget> pooling;
    conv::ConvProduct whole = product(p);
    whole.filter = args.filter->data<float>();
    if (p.direction == ConvDirection::forward) {
      whole.x = args.x->data<float>();
      if (args.pooling)
        whole.pooling = &pooling.emplace(*args.pooling);
      else
        whole.y = args.y->overwrite<float>();
      whole.bias = args.bias ? args.bias->data<float>() : nullptr;
      whole.activation = args.activation;
      whole.slope = args.slope;
    } else {
      whole.x = args.y->data<float>();
      whole.y = args.x->overwrite<float>();
    }
    auto* packed =
        args.workspace ? reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>()) : nullptr;
    for (const auto& gather : gathers(p)) run_product(whole, gather, packed);
  }
};

}  // namespace

const ConvSolver& implicit_gemm_solver() {
  static const ImplicitGemm solver;
  return solver;
}

}  // namespace kaiseki
