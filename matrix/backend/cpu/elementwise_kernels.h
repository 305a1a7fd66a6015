// SPDX-License-Identifier: MIT
// Runs one instruction of a typed expression on a block of elements, in 32-bit lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/backend/cpu/block_operand.h"
#include "matrix/typed_expression.h"

namespace kaiseki::cpu {

/// out[i] = code(a[i], b[i], c[i]). Unused operands are ignored.
void run_instruction(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, void* out, size_t count);

/// Instructions whose operands are float lanes.
void run_on_floats(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                   float* out, size_t count);
/// Instructions whose operands are integer lanes, and select.
void run_on_integers(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, void* out, size_t count);
/// The instructions that have no vector code.
void run_each_float(Expression::Code code, const BlockOperand& a, const BlockOperand& b, float* out,
                    size_t count);
void run_each_integer(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                      int32_t* out, size_t count);

/// The values that the lanes of a type may hold.
int32_t lane_mask(DType type);

}  // namespace kaiseki::cpu
