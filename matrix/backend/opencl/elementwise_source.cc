// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/elementwise_source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

using Code = Expression::Code;
using Program = std::vector<TypedInstruction>;

constexpr std::string_view kFunctions = R"(
inline float floor_divide_f(float a, float b) {
  if (b == 0.0f) return a / b;
  float r = fmod(a, b), q = (a - r) / b;
  if (r != 0.0f && (r < 0.0f) != (b < 0.0f)) q -= 1.0f;
  if (q == 0.0f) return copysign(0.0f, a / b);
  float whole = floor(q);
  return q - whole > 0.5f ? whole + 1.0f : whole;
}
inline float modulo_f(float a, float b) {
  float r = fmod(a, b);
  if (r == 0.0f) return copysign(0.0f, b);
  return (r < 0.0f) != (b < 0.0f) ? r + b : r;
}
inline int remainder_i(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }
inline int modulo_i(int a, int b) {
  int r = remainder_i(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline int floor_divide_i(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return as_int(0u - as_uint(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int power_i(int base, int exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint result = 1u, square = as_uint(base);
  for (uint rest = as_uint(exponent); rest; rest >>= 1) {
    if (rest & 1u) result *= square;
    square *= square;
  }
  return as_int(result);
}
inline int shift_left_i(int a, int b, int bits) {
  return b >= 0 && b < bits ? as_int(as_uint(a) << b) : 0;
}
inline int shift_right_i(int a, int b) { return a >> (b >= 0 && b < 32 ? b : 31); }
)";

bool needs_function(const TypedInstruction& in) {
  switch (in.code) {
    case Code::floor_divide:
    case Code::modulo:
    case Code::shift_left:
    case Code::shift_right:
      return true;
    case Code::remainder:
    case Code::power:
      return lane_of(in.operands) == Lane::i32;
    default:
      return false;
  }
}

std::string literal(const Scalar& value) {
  if (const auto* integer = std::get_if<int32_t>(&value))
    return joined({"as_int(", std::to_string(static_cast<uint32_t>(*integer)), "u)"});
  const float number = std::get<float>(value);
  if (std::isnan(number)) return "NAN";
  if (std::isinf(number)) return number > 0 ? "INFINITY" : "(-INFINITY)";
  char text[40];
  std::snprintf(text, sizeof(text), "(%af)", static_cast<double>(number));
  return text;
}

/// OpenCL's pow only guarantees 16 ulp.
bool is_square(const Program& program, const TypedInstruction& in) {
  const TypedInstruction& exponent = program[static_cast<size_t>(in.b)];
  const float* number = std::get_if<float>(&exponent.value);
  return exponent.code == Code::constant && number && *number == 2;
}

/// The name of a function of OpenCL C with the same result, or nothing.
std::string_view function_name(Code code) {
  switch (code) {
    case Code::square_root:
      return "sqrt";
    case Code::reciprocal_square_root:
      return "1.0f / sqrt";
    case Code::exponential:
      return "exp";
    case Code::exponential_2:
      return "exp2";
    case Code::exponential_m1:
      return "expm1";
    case Code::logarithm:
      return "log";
    case Code::logarithm_1p:
      return "log1p";
    case Code::logarithm_2:
      return "log2";
    case Code::logarithm_10:
      return "log10";
    case Code::sine:
      return "sin";
    case Code::cosine:
      return "cos";
    case Code::tangent:
      return "tan";
    case Code::arc_sine:
      return "asin";
    case Code::arc_cosine:
      return "acos";
    case Code::arc_tangent:
      return "atan";
    case Code::arc_tangent2:
      return "atan2";
    case Code::hyperbolic_sine:
      return "sinh";
    case Code::hyperbolic_cosine:
      return "cosh";
    case Code::hyperbolic_tangent:
      return "tanh";
    case Code::arc_hyperbolic_sine:
      return "asinh";
    case Code::arc_hyperbolic_cosine:
      return "acosh";
    case Code::arc_hyperbolic_tangent:
      return "atanh";
    case Code::cube_root:
      return "cbrt";
    case Code::hypotenuse:
      return "hypot";
    case Code::error_function:
      return "erf";
    case Code::complementary_error_function:
      return "erfc";
    case Code::floor:
      return "floor";
    case Code::ceiling:
      return "ceil";
    case Code::round:
      return "rint";
    case Code::truncate:
      return "trunc";
    default:
      return {};
  }
}

std::string_view infix_of(Code code) {
  switch (code) {
    case Code::less:
      return " < ";
    case Code::less_equal:
      return " <= ";
    case Code::greater:
      return " > ";
    case Code::greater_equal:
      return " >= ";
    case Code::equal:
      return " == ";
    case Code::not_equal:
      return " != ";
    case Code::bit_and:
      return " & ";
    case Code::bit_or:
      return " | ";
    case Code::bit_xor:
      return " ^ ";
    case Code::divide:
      return " / ";
    default:
      return {};
  }
}

struct Names {
  std::string a, b, c;
};

std::string on_floats(const Program& program, const TypedInstruction& in, const Names& n) {
  const std::string &a = n.a, &b = n.b;
  auto extreme = [&](std::string_view sign) {
    return joined({"(", a, sign, b, " || ", a, " != ", a, ") ? ", a, " : ", b});
  };
  switch (in.code) {
    case Code::negate:
      return joined({"-", a});
    case Code::add:
      return joined({a, " + ", b});
    case Code::subtract:
      return joined({a, " - ", b});
    case Code::multiply:
      return joined({a, " * ", b});
    case Code::minimum:
      return extreme(" < ");
    case Code::maximum:
      return extreme(" > ");
    case Code::power:
      return is_square(program, in) ? joined({a, " * ", a}) : joined({"pow(", a, ", ", b, ")"});
    case Code::absolute:
      return joined({"fabs(", a, ")"});
    case Code::logistic:
      return joined({"1.0f / (1.0f + exp(-", a, "))"});
    case Code::sign:
      return joined({a, " > 0.0f ? 1.0f : ", a, " < 0.0f ? -1.0f : ", a});
    case Code::is_nan:
      return joined({a, " != ", a});
    case Code::is_infinite:
      return joined({"fabs(", a, ") == INFINITY"});
    case Code::is_finite:
      return joined({"fabs(", a, ") < INFINITY"});
    case Code::floor_divide:
      return joined({"floor_divide_f(", a, ", ", b, ")"});
    case Code::modulo:
      return joined({"modulo_f(", a, ", ", b, ")"});
    case Code::remainder:
      return joined({"fmod(", a, ", ", b, ")"});
    case Code::to_bool:
      return joined({a, " != 0.0f"});
    case Code::to_i32:
      return joined({a, " != ", a, " ? 0 : convert_int_sat(", a, ")"});
    case Code::to_u8:
      return joined({a, " != ", a, " ? 0 : convert_uchar_sat(", a, ")"});
    default:
      return {};
  }
}

std::string on_integers(const TypedInstruction& in, const Names& n) {
  const std::string &a = n.a, &b = n.b;
  /// Signed overflow is undefined in C. The mask keeps the bits that the type has.
  auto wrapped = [&](std::initializer_list<std::string_view> value) {
    const std::string_view mask = in.type == DType::u8        ? " & 255"
                                  : in.type == DType::boolean ? " & 1"
                                                              : "";
    return joined({"as_int(", joined(value), ")", mask});
  };
  auto infix = [&](std::string_view sign) {
    return wrapped({"as_uint(", a, ")", sign, "as_uint(", b, ")"});
  };
  auto call = [&](std::string_view name) { return joined({name, "(", a, ", ", b, ")"}); };
  switch (in.code) {
    case Code::negate:
      return wrapped({"0u - as_uint(", a, ")"});
    case Code::bit_not:
      return wrapped({"~", a});
    case Code::to_u8:
      return wrapped({a});
    case Code::add:
      return infix(" + ");
    case Code::subtract:
      return infix(" - ");
    case Code::multiply:
      return infix(" * ");
    case Code::minimum:
      return call("min");
    case Code::maximum:
      return call("max");
    case Code::absolute:
      return joined({"as_int(abs(", a, "))"});
    case Code::sign:
      return joined({"(", a, " > 0) - (", a, " < 0)"});
    case Code::floor_divide:
      return call("floor_divide_i");
    case Code::modulo:
      return call("modulo_i");
    case Code::remainder:
      return call("remainder_i");
    case Code::power:
      return wrapped({call("power_i")});
    case Code::shift_left:
      return wrapped({"shift_left_i(", a, ", ", b, in.type == DType::u8 ? ", 8)" : ", 32)"});
    case Code::shift_right:
      return call("shift_right_i");
    case Code::to_bool:
      return joined({a, " != 0"});
    case Code::to_i32:
      return a;
    case Code::to_f32:
      return joined({"(float)", a});
    default:
      return {};
  }
}

}  // namespace

std::string_view lane_name(DType type) { return lane_of(type) == Lane::f32 ? "float" : "int"; }

std::string_view elementwise_functions(const Program& program) {
  return std::any_of(program.begin(), program.end(), needs_function) ? kFunctions
                                                                     : std::string_view{};
}

std::string operation_text(const Program& program, const TypedInstruction& in) {
  auto name = [](int number) {
    return number < 0 ? "" : numbered("v", static_cast<size_t>(number));
  };
  const Names n{name(in.a), name(in.b), name(in.c)};
  switch (in.code) {
    case Code::input:
      return numbered("x", static_cast<size_t>(in.a));
    case Code::scalar:
      return numbered("s", static_cast<size_t>(in.a));
    case Code::constant:
      return literal(in.value);
    case Code::select:
      return joined({n.a, " != 0 ? ", n.b, " : ", n.c});
    default:
      break;
  }
  if (const std::string_view infix = infix_of(in.code); !infix.empty())
    return joined({n.a, infix, n.b});
  if (const std::string_view function = function_name(in.code); !function.empty())
    return joined({function, "(", n.a, n.b.empty() ? "" : ", ", n.b, ")"});
  return lane_of(in.operands) == Lane::f32 ? on_floats(program, in, n) : on_integers(in, n);
}

}  // namespace kaiseki::opencl
