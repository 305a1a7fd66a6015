// SPDX-License-Identifier: MIT
// Expression: the text of an elementwise operation. It is parsed once into a small program, which
// matrix/typed_expression.h gives types to. docs/arrays.md lists the operators and functions.
//
//   "a*x + y"                                  one result
//   "v = m*v - lr*g; w = w + v"                statements; assigned names are outputs
//
// Operators, from the lowest precedence: ?: || && | ^ & == != < <= > >= << >> + - * / // %, and the
// unary - + ! ~. A name is an input tensor or a scalar, depending on its binding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki {

class Expression {
 public:
  enum class Code : uint8_t {
    input,
    scalar,
    constant,
    negate,
    add,
    subtract,
    multiply,
    divide,
    minimum,
    maximum,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    select,
    absolute,
    square_root,
    reciprocal_square_root,
    exponential,
    logarithm,
    sine,
    cosine,
    hyperbolic_tangent,
    logistic,
    floor,
    ceiling,
    round,
    sign,
    is_nan,
    is_infinite,
    is_finite,
    truncate,
    tangent,
    arc_sine,
    arc_cosine,
    arc_tangent,
    arc_tangent2,
    hyperbolic_sine,
    hyperbolic_cosine,
    arc_hyperbolic_sine,
    arc_hyperbolic_cosine,
    arc_hyperbolic_tangent,
    logarithm_1p,
    logarithm_2,
    logarithm_10,
    exponential_m1,
    exponential_2,
    cube_root,
    hypotenuse,
    error_function,
    complementary_error_function,
    floor_divide,
    modulo,
    remainder,
    logical_and,
    logical_or,
    logical_not,
    bit_and,
    bit_or,
    bit_xor,
    bit_not,
    shift_left,
    shift_right,
    to_f32,
    to_i32,
    to_u8,
    to_bool,
  };
  /// Value i of the program is the result of instruction i. Operands are earlier values.
  struct Instruction {
    Code code;
    /// Indices of values; for input and scalar, a is the index of the name.
    int a = -1, b = -1, c = -1;
    double value = 0;      // value of a literal
    bool integer = false;  // a literal without point and exponent
  };
  struct Output {
    std::string name;  // "" for the result of an expression without assignment
    int value;
  };

  /// Parses each text and set of scalar names once; later calls return the same object. Throws
  /// Error with the position in the text.
  static std::shared_ptr<const Expression> parse(std::string_view text,
                                                 const std::vector<std::string>& scalar_names);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& scalars() const { return scalars_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Instruction>& program() const { return program_; }

 private:
  friend class ExpressionParser;
  std::string text_;
  std::vector<std::string> inputs_, scalars_;
  std::vector<Output> outputs_;
  std::vector<Instruction> program_;
};

}  // namespace kaiseki
