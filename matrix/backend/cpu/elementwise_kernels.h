// SPDX-License-Identifier: MIT
// One instruction of an expression over a block of floats.
#pragma once

#include <cstddef>

#include "matrix/ops/expression.h"

namespace kaiseki::cpu {

/// `count` values, or one value for all of them. The result may be written over an operand.
struct BlockOperand {
  const float* values = nullptr;
  bool scalar = false;
};

/// out[i] = code(a[i], b[i], c[i]); b and c are not looked at where the code has no such operand.
void run_instruction(Expression::Code code, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, float* out, size_t count);

}  // namespace kaiseki::cpu
