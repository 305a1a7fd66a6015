// SPDX-License-Identifier: MIT
// Functions that several layers use.
#pragma once

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "nn/layer.h"

namespace kaiseki::nn {

/// Returns the only input. Throws ShapeError if there are several or its rank is wrong.
inline const Shape& only_input(std::span<const Shape> inputs, int rank = -1,
                               std::string_view form = "") {
  require(inputs.size() == 1, "layer", "expected one input, got ", inputs.size());
  require(rank < 0 || inputs[0].rank() == rank, "layer", "expected an input of shape ", form,
          ", got ", inputs[0]);
  return inputs[0];
}

/// Reshapes x to [n, elements of a sample].
inline Tensor as_rows(const Tensor& x) {
  int64_t elements = 1;
  for (int axis = 1; axis < x.rank(); ++axis) elements *= x.dim(axis);
  return x.rank() == 2 ? x : x.reshape({x.dim(0), elements});
}

/// Computes activation(expression) in one pass over memory. The expression has parentheses.
Tensor activated(const FusedActivation& activation, const std::string& expression,
                 const std::vector<Binding>& bindings);
/// Computes y = activation(y) in place.
void apply_activation(const FusedActivation& activation, Tensor& y);
/// Returns dy times the derivative at output y. With `may_overwrite`, the result overwrites dy.
Tensor activation_gradient(const FusedActivation& activation, const Tensor& y, const Tensor& dy,
                           bool may_overwrite);

}  // namespace kaiseki::nn
