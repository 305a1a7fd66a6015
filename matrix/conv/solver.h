// SPDX-License-Identifier: MIT
// ConvSolver: one way to compute a convolution on one backend. A solver says what it can do, what
// workspace it needs and whether its result is always the same; a selector chooses.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "matrix/tensor.h"

namespace kaiseki {

struct PoolArgs;

enum class Activation : uint8_t { none, relu, leaky_relu, sigmoid, tanh };
enum class ConvDirection : uint8_t { forward, backward_data, backward_filter };

/// A two-dimensional convolution (cross-correlation): x [n, c, h, w], filter [k, c/groups, r, s],
/// y [n, k, out_h, out_w].
struct ConvProblem {
  ConvDirection direction = ConvDirection::forward;
  int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0;
  std::array<int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;

  int64_t out_h() const { return (h + 2 * padding[0] - dilation[0] * (r - 1) - 1) / stride[0] + 1; }
  int64_t out_w() const { return (w + 2 * padding[1] - dilation[1] * (s - 1) - 1) / stride[1] + 1; }
  /// Multiplications and additions, the ones on padding included.
  double flops() const;
  /// "n16c64h56w56k128r3s3p1": what the case is called in tuning files and benchmarks.
  std::string str() const;
  auto operator<=>(const ConvProblem&) const = default;
};

/// All tensors are contiguous f32. forward: reads x, filter, bias; writes y = activation(x*filter +
/// bias). backward_data: reads y (= dy) and filter; writes x (= dx). backward_filter: reads x and
/// y (= dy); filter (= d filter) = result + beta * filter.
struct ConvArgs {
  Tensor *x = nullptr, *filter = nullptr, *y = nullptr;
  const Tensor* bias = nullptr;  // [k], forward only; may be nullptr
  Activation activation = Activation::none;
  float slope = 0.01f;
  float beta = 0;
  const Tensor* prepared = nullptr;  // what prepare() made of the filter; may be nullptr
  /// Maximum pooling of y, in the same pass: of y there is no more than its shape. forward writes
  /// pool->y and, unless that is nullptr, pool->indices; the other directions take y (= dy) from
  /// pool->dy and pool->indices.
  const PoolArgs* pool = nullptr;
  Tensor* workspace = nullptr;  // u8, at least workspace_bytes(problem); may be nullptr for 0
};

class ConvSolver {
 public:
  virtual ~ConvSolver() = default;
  virtual std::string_view name() const = 0;
  virtual bool applicable(const ConvProblem& problem) const = 0;
  virtual uint64_t workspace_bytes(const ConvProblem& problem) const = 0;
  virtual bool deterministic() const { return true; }
  /// Of what run() first makes of the filter, a transform: the same for every n, h and w. It may be
  /// made once, for all runs as long as the filter stays as it is. 0: nothing is made.
  virtual uint64_t prepared_bytes(const ConvProblem&) const { return 0; }
  virtual void prepare(const ConvProblem&, const Tensor& /*filter*/, Tensor& /*prepared*/) const {}
  /// Whether run() takes args.pool.
  virtual bool pools(const ConvProblem&) const { return false; }
  virtual void run(const ConvProblem& problem, const ConvArgs& args) const = 0;
};

}  // namespace kaiseki
