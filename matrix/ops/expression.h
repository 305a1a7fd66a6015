// SPDX-License-Identifier: MIT
// Expression: the text of an elementwise operation, parsed once into a small program that every
// backend runs: interpreted in vector blocks on the CPU, compiled on OpenCL.
//
//   "a*x + y"                                  one result
//   "v = m*v - lr*g; w = w + v"                statements; assigned names are outputs
//
// Operators: + - * / unary -, comparisons (1 or 0), ?: ; functions: abs sqrt rsqrt exp log sin cos
// tanh sigmoid floor ceil round min max pow sign isnan. A name is an input tensor or a scalar, by
// what is bound to it. A NaN wins min and max; comparisons with it are 0 but for !=; round goes to
// the even neighbour at a half; sign is 0 at 0 and NaN at NaN.
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
    int a = -1, b = -1, c = -1;  // values; for input and scalar, a is the index of the name
    float value = 0;             // of a constant
  };
  struct Output {
    std::string name;  // "" for the one result of a bare expression
    int value;
  };

  /// Parses once for each text and set of scalar names; later calls return the same object. Throws
  /// Error naming the place in the text.
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
