// SPDX-License-Identifier: MIT
// Runs one instruction of a typed expression on a block of elements, in 32-bit lanes.
#pragma once

#include <cstddef>
#include <type_traits>

#include "matrix/typed_expression.h"

namespace kaiseki::cpu {

/// `count` lanes, or one lane that applies to all elements. The result may overwrite an operand.
struct BlockOperand {
  const void* values = nullptr;
  bool scalar = false;
};

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

/// out[i] = f(a[i], b[i]). If b has no values, f gets a[i] twice.
template <class T, class Function>
void each(const BlockOperand& a, const BlockOperand& b, T* out, size_t count, Function f) {
  const T* x = static_cast<const T*>(a.values);
  const T* y = static_cast<const T*>(b.values ? b.values : a.values);
  const size_t x_step = a.scalar ? 0 : 1, y_step = b.scalar ? 0 : 1;
  for (size_t i = 0; i < count; ++i) out[i] = f(x[i * x_step], y[i * y_step]);
}

}  // namespace kaiseki::cpu
