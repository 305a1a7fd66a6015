// SPDX-License-Identifier: MIT
// Types of elementwise expressions. infer_types() gives every value of an Expression a type and
// inserts conversions. Every backend runs the result. docs/arrays.md has the table of the rules.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "matrix/dtype.h"
#include "matrix/expression.h"

namespace kaiseki {

/// Backends compute f32 as float, and i32, u8 and bool as 32-bit integers. A value of type u8 is
/// in 0..255, a bool is 0 or 1.
enum class Lane : uint8_t { f32, i32 };
Lane lane_of(DType type);

/// A number that is bound to a name.
using Scalar = std::variant<float, int32_t>;

/// The operands of an instruction are earlier values, and have the types that it needs. There is no
/// logical_and, logical_or or logical_not: they became bit operations on bool.
struct TypedInstruction {
  Expression::Code code;
  DType type;      // of the result
  DType operands;  // of a and b; for select, of b and c, and a is a bool
  int a = -1, b = -1, c = -1;
  Scalar value = 0.0f;  // of a constant
};

struct TypedExpression {
  std::vector<TypedInstruction> program;
  std::vector<int> outputs;  // indices of values
};

/// The type that holds the values of both types: the later one of bool, u8, i32, f32.
DType promote(DType a, DType b);

/// `inputs` and `scalars` are in the order of the expression's names. If `outputs` is not empty,
/// the results are converted to these types. Throws ShapeError if an operator lacks the type of its
/// operand. Also throws it if a result's type does not promote to that of its output.
TypedExpression infer_types(const Expression& expression, std::span<const DType> inputs,
                            std::span<const Scalar> scalars, std::span<const DType> outputs = {});

}  // namespace kaiseki
