// SPDX-License-Identifier: MIT
#include "matrix/typed_expression.h"

#include <map>
#include <utility>

#include "base/error.h"

namespace kaiseki {
namespace {

using Code = Expression::Code;

enum class Rule : uint8_t {
  arithmetic,  // in the promoted type; bool becomes i32
  rounding,    // the same, and integers stay as they are
  real,        // in f32
  test,        // of an f32; the result is a bool
  comparison,  // in the promoted type; the result is a bool
  logic,       // of bools
  bits,        // in the promoted type, which is not f32
  shift,       // the same; bool becomes i32
  conversion,  // to the type that the code names
  choice,      // select
  leaf,
};

Rule rule_of(Code code) {
  switch (code) {
    case Code::input:
    case Code::scalar:
    case Code::constant:
      return Rule::leaf;
    case Code::negate:
    case Code::add:
    case Code::subtract:
    case Code::multiply:
    case Code::minimum:
    case Code::maximum:
    case Code::power:
    case Code::absolute:
    case Code::sign:
    case Code::floor_divide:
    case Code::modulo:
    case Code::remainder:
      return Rule::arithmetic;
    case Code::floor:
    case Code::ceiling:
    case Code::round:
    case Code::truncate:
      return Rule::rounding;
    case Code::less:
    case Code::less_equal:
    case Code::greater:
    case Code::greater_equal:
    case Code::equal:
    case Code::not_equal:
      return Rule::comparison;
    case Code::is_nan:
    case Code::is_infinite:
    case Code::is_finite:
      return Rule::test;
    case Code::logical_and:
    case Code::logical_or:
    case Code::logical_not:
      return Rule::logic;
    case Code::bit_and:
    case Code::bit_or:
    case Code::bit_xor:
    case Code::bit_not:
      return Rule::bits;
    case Code::shift_left:
    case Code::shift_right:
      return Rule::shift;
    case Code::to_f32:
    case Code::to_i32:
    case Code::to_u8:
    case Code::to_bool:
      return Rule::conversion;
    case Code::select:
      return Rule::choice;
    case Code::divide:
    case Code::square_root:
    case Code::reciprocal_square_root:
    case Code::exponential:
    case Code::exponential_2:
    case Code::exponential_m1:
    case Code::logarithm:
    case Code::logarithm_1p:
    case Code::logarithm_2:
    case Code::logarithm_10:
    case Code::sine:
    case Code::cosine:
    case Code::tangent:
    case Code::arc_sine:
    case Code::arc_cosine:
    case Code::arc_tangent:
    case Code::arc_tangent2:
    case Code::hyperbolic_sine:
    case Code::hyperbolic_cosine:
    case Code::hyperbolic_tangent:
    case Code::arc_hyperbolic_sine:
    case Code::arc_hyperbolic_cosine:
    case Code::arc_hyperbolic_tangent:
    case Code::logistic:
    case Code::cube_root:
    case Code::hypotenuse:
    case Code::error_function:
    case Code::complementary_error_function:
      break;
  }
  return Rule::real;
}

bool holds_i32(double value) { return value >= -2147483648.0 && value <= 2147483647.0; }

Code conversion_to(DType type) {
  switch (type) {
    case DType::f32:
      return Code::to_f32;
    case DType::i32:
      return Code::to_i32;
    case DType::u8:
      return Code::to_u8;
    case DType::boolean:
    case DType::f64:  // elementwise() refuses it
      break;
  }
  return Code::to_bool;
}

DType target_of(Code conversion) {
  switch (conversion) {
    case Code::to_f32:
      return DType::f32;
    case Code::to_i32:
      return DType::i32;
    case Code::to_u8:
      return DType::u8;
    default:
      return DType::boolean;
  }
}

class Inference {
 public:
  Inference(const Expression& expression, std::span<const DType> inputs,
            std::span<const Scalar> scalars)
      : expression_(expression), inputs_(inputs), scalars_(scalars) {}

  TypedExpression run(std::span<const DType> outputs) {
    values_.reserve(expression_.program().size());
    result_.program.reserve(2 * expression_.program().size());  // with conversions
    for (const Expression::Instruction& in : expression_.program()) values_.push_back(value(in));
    for (size_t i = 0; i < expression_.outputs().size(); ++i) {
      int from = values_[static_cast<size_t>(expression_.outputs()[i].value)];
      if (!outputs.empty()) {
        const Operand given = operand(from);
        require(common(given, {outputs[i]}) == outputs[i], "elementwise", "the type of '",
                expression_.text(), "' does not fit its output: expected ", dtype_name(outputs[i]),
                ", got ", dtype_name(given.type));
        from = converted(from, outputs[i]);
      }
      result_.outputs.push_back(from);
    }
    return std::move(result_);
  }

 private:
  struct Operand {
    DType type;
    bool fits_u8 = false;  // a literal or a scalar that takes the type of a u8 operand
  };

  Operand operand(int v) const {
    const TypedInstruction& in = result_.program[static_cast<size_t>(v)];
    if (in.code != Code::constant && in.code != Code::scalar) return {in.type};
    const int32_t* integer = std::get_if<int32_t>(&in.value);
    return {in.type, integer && *integer >= 0 && *integer <= 255};
  }

  static DType common(const Operand& a, const Operand& b) {
    if ((a.type == DType::u8 && b.fits_u8) || (b.type == DType::u8 && a.fits_u8)) return DType::u8;
    return promote(a.type, b.type);
  }

  int emit(const TypedInstruction& in) {
    result_.program.push_back(in);
    return static_cast<int>(result_.program.size()) - 1;
  }

  int converted(int v, DType type) {
    const TypedInstruction from = result_.program[static_cast<size_t>(v)];
    if (from.type == type) return v;
    if (from.code == Code::constant && type == DType::f32)
      return emit({.code = Code::constant,
                   .type = type,
                   .operands = type,
                   .value = static_cast<float>(std::get<int32_t>(from.value))});
    auto [known, added] = converted_.try_emplace({v, type}, -1);
    if (added)
      known->second =
          emit({.code = conversion_to(type), .type = type, .operands = from.type, .a = v});
    return known->second;
  }

  int leaf(const Expression::Instruction& in) {
    DType type = DType::f32;
    Scalar number = static_cast<float>(in.value);
    if (in.code == Code::input)
      type = inputs_[static_cast<size_t>(in.a)];
    else if (in.code == Code::scalar)
      number = scalars_[static_cast<size_t>(in.a)];
    else if (in.integer && holds_i32(in.value))
      number = static_cast<int32_t>(in.value);
    if (in.code != Code::input && std::holds_alternative<int32_t>(number)) type = DType::i32;
    return emit({.code = in.code, .type = type, .operands = type, .a = in.a, .value = number});
  }

  /// An instruction whose operands and result have these types.
  int same(const Expression::Instruction& in, Code code, DType operands, DType type) {
    auto typed = [&](int v) {
      return v < 0 ? -1 : converted(values_[static_cast<size_t>(v)], operands);
    };
    const int a = typed(in.a), b = typed(in.b);
    return emit({.code = code, .type = type, .operands = operands, .a = a, .b = b});
  }

  [[noreturn]] void refuse(DType got) const {
    throw ShapeError(message("elementwise", "an operator of '", expression_.text(),
                             "' is for integers: expected i32, u8 or bool, got ", dtype_name(got)));
  }

  int value(const Expression::Instruction& in) {
    const Rule rule = rule_of(in.code);
    if (rule == Rule::leaf) return leaf(in);
    auto given = [&](int v) { return operand(values_[static_cast<size_t>(v)]); };
    if (rule == Rule::choice) {
      const DType type = common(given(in.b), given(in.c));
      const int a = converted(values_[static_cast<size_t>(in.a)], DType::boolean);
      const int b = converted(values_[static_cast<size_t>(in.b)], type);
      const int c = converted(values_[static_cast<size_t>(in.c)], type);
      return emit({.code = in.code, .type = type, .operands = type, .a = a, .b = b, .c = c});
    }
    const DType type = in.b < 0 ? given(in.a).type : common(given(in.a), given(in.b));
    const DType number = type == DType::boolean ? DType::i32 : type;
    switch (rule) {
      case Rule::real:
        return same(in, in.code, DType::f32, DType::f32);
      case Rule::test:
        return same(in, in.code, DType::f32, DType::boolean);
      case Rule::comparison:
        return same(in, in.code, type, DType::boolean);
      case Rule::rounding:
        if (number != DType::f32) return converted(values_[static_cast<size_t>(in.a)], number);
        [[fallthrough]];
      case Rule::arithmetic:
        return same(in, in.code, number, number);
      case Rule::bits:
        if (type == DType::f32) refuse(type);
        return same(in, in.code, type, type);
      case Rule::shift:
        if (type == DType::f32) refuse(type);
        return same(in, in.code, number, number);
      case Rule::conversion:
        return converted(values_[static_cast<size_t>(in.a)], target_of(in.code));
      case Rule::logic:
      case Rule::choice:
      case Rule::leaf:
        break;
    }
    const Code bits = in.code == Code::logical_and  ? Code::bit_and
                      : in.code == Code::logical_or ? Code::bit_or
                                                    : Code::bit_not;
    return same(in, bits, DType::boolean, DType::boolean);
  }

  const Expression& expression_;
  std::span<const DType> inputs_;
  std::span<const Scalar> scalars_;
  std::vector<int> values_;  // of the expression's instructions
  std::map<std::pair<int, DType>, int> converted_;
  TypedExpression result_;
};

int rank_of(DType type) {
  switch (type) {
    case DType::boolean:
      return 0;
    case DType::u8:
      return 1;
    case DType::i32:
      return 2;
    case DType::f32:
      return 3;
    case DType::f64:
      break;
  }
  return 4;
}

}  // namespace

Lane lane_of(DType type) {
  switch (type) {
    case DType::f32:
      return Lane::f32;
    case DType::i32:
    case DType::u8:
    case DType::boolean:
    case DType::f64:  // elementwise() refuses it
      break;
  }
  return Lane::i32;
}

DType promote(DType a, DType b) { return rank_of(a) < rank_of(b) ? b : a; }

TypedExpression infer_types(const Expression& expression, std::span<const DType> inputs,
                            std::span<const Scalar> scalars, std::span<const DType> outputs) {
  return Inference(expression, inputs, scalars).run(outputs);
}

}  // namespace kaiseki
