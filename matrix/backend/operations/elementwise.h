// SPDX-License-Identifier: MIT
// Elementwise expressions.
#pragma once

#include <vector>

#include "matrix/backend/operation.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"

namespace kaiseki {

class Expression;

/// One operand of an elementwise expression, over the common shape `ElementwiseArgs::shape`.
struct ElementwiseOperand {
  const Tensor* tensor;
  Shape strides;  // in elements; has the rank of the common shape; 0 for broadcast axes
};

struct ElementwiseArgs {
  const Expression* expression;
  Shape shape;                             // the common shape, collapsed if possible
  std::vector<ElementwiseOperand> inputs;  // in the order of expression->inputs(); f32
  std::vector<float> scalars;              // in the order of expression->scalars()
  /// In the order of expression->outputs(). Contiguous f32 of the common size. An output may be the
  /// same tensor as an input.
  std::vector<Tensor*> outputs;
};

inline constexpr Operation<ElementwiseArgs> kElementwise{"elementwise"};

}  // namespace kaiseki
