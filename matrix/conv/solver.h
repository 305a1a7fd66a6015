// SPDX-License-Identifier: MIT
// ConvSolver: one way to compute a convolution on one backend. A solver reports the problems it
// supports, its workspace, and whether its result is deterministic. A selector chooses among
// solvers.
#pragma once

#include <cstdint>
#include <string_view>

#include "matrix/activation.h"
#include "matrix/conv/problem.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct PoolingArgs;

/// All tensors are contiguous f32. forward: reads x, filter, bias; writes y = activation(x*filter +
/// bias). backward_data: reads y (= dy) and filter; writes x (= dx). backward_filter: reads x and
/// y (= dy); filter (= d filter) = result + beta * filter.
struct ConvArgs {
  Tensor *x = nullptr, *filter = nullptr, *y = nullptr;
  const Tensor* bias = nullptr;  // [k], forward only; may be nullptr
  Activation activation = Activation::none;
  float slope = 0.01f;
  float beta = 0;
  const Tensor* prepared = nullptr;  // the filter as transformed by prepare(); may be nullptr
  /// Maximum pooling of y in the same pass. y then has a shape and no contents. forward writes
  /// pooling->y, and pooling->indices unless that is nullptr. The other directions read y (= dy)
  /// from pooling->dy and pooling->indices.
  const PoolingArgs* pooling = nullptr;
  Tensor* workspace = nullptr;  // u8, at least workspace_bytes(problem); may be nullptr for 0
};

class ConvSolver {
 public:
  virtual ~ConvSolver() = default;
  virtual std::string_view name() const = 0;
  virtual bool applicable(const ConvProblem& problem) const = 0;
  virtual uint64_t workspace_bytes(const ConvProblem& problem) const = 0;
  virtual bool deterministic() const { return true; }
  /// Bytes of the transformed filter if run() transforms it first, or 0. The transform must not
  /// depend on n, h and w. It is computed once and used by all runs until the filter changes.
  virtual uint64_t prepared_bytes(const ConvProblem&) const { return 0; }
  virtual void prepare(const ConvProblem&, const Tensor& /*filter*/, Tensor& /*prepared*/) const {}
  /// Returns whether run() supports args.pooling.
  virtual bool fuses_pooling(const ConvProblem&) const { return false; }
  virtual void run(const ConvProblem& problem, const ConvArgs& args) const = 0;
};

/// A solver with a function for each direction.
class DirectedConvSolver : public ConvSolver {
 public:
  void run(const ConvProblem& problem, const ConvArgs& args) const final {
    switch (problem.direction) {
      case ConvDirection::forward:
        return forward(problem, args);
      case ConvDirection::backward_data:
        return backward_data(problem, args);
      case ConvDirection::backward_filter:
        return backward_filter(problem, args);
    }
  }

 private:
  virtual void forward(const ConvProblem& problem, const ConvArgs& args) const = 0;
  virtual void backward_data(const ConvProblem& problem, const ConvArgs& args) const = 0;
  virtual void backward_filter(const ConvProblem& problem, const ConvArgs& args) const = 0;
};

}  // namespace kaiseki
