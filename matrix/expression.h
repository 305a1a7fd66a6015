// SPDX-License-Identifier: MIT
// Expression: the text of an elementwise operation. It is parsed once into a small program that
// every backend runs. The CPU interprets it in vector blocks, OpenCL compiles it.
//
//   "a*x + y"                                  one result
//   "v = m*v - lr*g; w = w + v"                statements; assigned names are outputs
//
// Operators: + - * / unary -, comparisons (1 or 0), ?:. Functions: abs sqrt rsqrt exp log sin cos
// tanh sigmoid floor ceil round min max pow sign isnan. A name is an input tensor or a scalar,
// depending on its binding. If an operand of min or max is NaN, the result is NaN. A comparison
// with NaN gives 0, except that != gives 1. round rounds halves to even. sign is 0 at 0 and NaN at
// NaN.
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
  };
  /// Value i of the program is the result of instruction i. Operands are earlier values.
  struct Instruction {
    Code code;
    /// Indices of values; for input and scalar, a is the index of the name.
    int a = -1, b = -1, c = -1;
    float value = 0;  // value of a constant
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
