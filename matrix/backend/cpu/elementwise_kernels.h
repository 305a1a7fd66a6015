// SPDX-License-Identifier: MIT
// Runs one instruction of an expression on a block of floats.
#pragma once

#include <cstddef>

#include "matrix/expression.h"

namespace kaiseki::cpu {

/// `count` values, or one value that applies to all elements. The result may overwrite an operand.
struct BlockOperand {
  const float* values = nullptr;
  bool scalar = false;
};

/// out[i] = code(a[i], b[i], c[i]). b and c are ignored if the code has fewer operands.
void run_instruction(Expression::Code code, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, float* out, size_t count);

}  // namespace kaiseki::cpu
