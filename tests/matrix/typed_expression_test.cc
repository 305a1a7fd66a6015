// SPDX-License-Identifier: MIT
#include "matrix/typed_expression.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace kaiseki {
namespace {

/// The type of `text` where x and y have these types, and s is the scalar.
DType type_of(std::string_view text, DType x, DType y = DType::f32, Scalar s = 1.0f) {
  const auto expression = Expression::parse(text, {"s"});
  std::vector<DType> inputs;
  for (const std::string& name : expression->inputs()) inputs.push_back(name == "x" ? x : y);
  std::vector<Scalar> scalars(expression->scalars().size(), s);
  const TypedExpression typed = infer_types(*expression, inputs, scalars);
  return typed.program[static_cast<size_t>(typed.outputs[0])].type;
}

constexpr DType kTypes[] = {DType::boolean, DType::u8, DType::i32, DType::f32};

}  // namespace

TEST_CASE("types: the promoted type is the later one of bool, u8, i32, f32") {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const DType both = kTypes[std::max(i, j)];
      CHECK(promote(kTypes[i], kTypes[j]) == both);
      CHECK(type_of("x + y", kTypes[i], kTypes[j]) == (both == DType::boolean ? DType::i32 : both));
      CHECK(type_of("x ? x : y", kTypes[i], kTypes[j]) == both);
      CHECK(type_of("x / y", kTypes[i], kTypes[j]) == DType::f32);
      CHECK(type_of("x < y", kTypes[i], kTypes[j]) == DType::boolean);
      CHECK(type_of("x && y", kTypes[i], kTypes[j]) == DType::boolean);
      if (both == DType::f32) {
        CHECK_THROWS_AS(type_of("x | y", kTypes[i], kTypes[j]), ShapeError);
        CHECK_THROWS_AS(type_of("x << y", kTypes[i], kTypes[j]), ShapeError);
      } else {
        CHECK(type_of("x | y", kTypes[i], kTypes[j]) == both);
      }
    }
}

TEST_CASE("types: a literal or a scalar takes the type of u8 if that holds its value") {
  CHECK(type_of("x + 255", DType::u8) == DType::u8);
  CHECK(type_of("x + 256", DType::u8) == DType::i32);
  CHECK(type_of("x + -1", DType::u8) == DType::i32);
  CHECK(type_of("x + (250 + 5)", DType::u8) == DType::u8);
  CHECK(type_of("x + 1.0", DType::u8) == DType::f32);
  CHECK(type_of("x + 3000000000", DType::i32) == DType::f32);
  CHECK(type_of("x + 2147483647", DType::i32) == DType::i32);
  CHECK(type_of("x * 46341 * 46341", DType::f32) == DType::f32);
  CHECK(type_of("x + 46341 * 46341", DType::i32) == DType::f32);
  CHECK(type_of("x + s", DType::u8, DType::f32, 7) == DType::u8);
  CHECK(type_of("x + s", DType::u8, DType::f32, 300) == DType::i32);
  CHECK(type_of("x + s", DType::u8, DType::f32, 7.0f) == DType::f32);
  CHECK(type_of("1 < 2", DType::u8) == DType::boolean);
}

TEST_CASE("types: an expression of floats has no conversions") {
  for (const char* text : {"x * y + s", "x > 0 ? y : 2 * y", "max(x, 0) / (1 + abs(y))", "x < y"}) {
    CAPTURE(text);
    const auto expression = Expression::parse(text, {"s"});
    const std::vector<DType> inputs(expression->inputs().size(), DType::f32);
    const std::vector<Scalar> scalars(expression->scalars().size(), 2.0f);
    for (const TypedInstruction& in : infer_types(*expression, inputs, scalars).program)
      CHECK((in.code < Expression::Code::to_f32 || in.code > Expression::Code::to_bool));
  }
}

TEST_CASE("types: a result is converted to its output if that holds its values") {
  const auto sum = Expression::parse("x + y", {});
  const DType inputs[] = {DType::u8, DType::i32};
  for (DType output : kTypes) {
    const bool holds = output == DType::i32 || output == DType::f32;
    auto infer = [&] { return infer_types(*sum, inputs, {}, {&output, 1}); };
    if (holds)
      CHECK(infer().program[static_cast<size_t>(infer().outputs[0])].type == output);
    else
      CHECK_THROWS_AS(infer(), ShapeError);
  }
}

}  // namespace kaiseki
