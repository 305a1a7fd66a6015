// SPDX-License-Identifier: MIT
// Elementwise expressions.
#pragma once

#include <vector>

#include "matrix/backend/operation.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"
#include "matrix/typed_expression.h"

namespace kaiseki {

/// One operand of an elementwise expression, over the common shape `ElementwiseArgs::shape`.
struct ElementwiseOperand {
  const Tensor* tensor;
  Shape strides;  // in elements; has the rank of the common shape; 0 for broadcast axes
};

struct ElementwiseArgs {
  const TypedExpression* expression;
  Shape shape;                             // the common shape, collapsed if possible
  std::vector<ElementwiseOperand> inputs;  // an input instruction's `a` is an index of them
  std::vector<Scalar> scalars;             // the same for a scalar instruction
  /// The outputs in the order of expression->outputs, with the types of those values. They are
  /// contiguous and have the common size. An output may be the same tensor as an input.
  std::vector<Tensor*> outputs;
};

inline constexpr Operation<ElementwiseArgs> kElementwise{"elementwise"};

}  // namespace kaiseki
