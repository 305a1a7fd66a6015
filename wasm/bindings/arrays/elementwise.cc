// SPDX-License-Identifier: MIT
// Operators and functions of elements, and comparisons (matrix/ops/lazy.h, elementwise.h,
// compare.h). Operators have NumPy's names, because JavaScript has no operators of its own.
#include "matrix/ops/elementwise.h"

#include "matrix/ops/compare.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {
namespace {

/// An integer is an i32, as in C++.
std::vector<Binding> bindings_of(const Record& record) {
  std::vector<Binding> bindings;
  for (const auto& field : record) {
    if (const Tensor* tensor = std::get_if<Tensor>(&field.second)) {
      bindings.emplace_back(field.first, *tensor);
      continue;
    }
    const double number = std::get<double>(field.second);
    const std::optional<int> integer = integer_of<int>(number);
    if (integer && !(number == 0 && std::signbit(number)))
      bindings.emplace_back(field.first, *integer);
    else
      bindings.emplace_back(field.first, static_cast<float>(number));
  }
  return bindings;
}

Tolerance tolerance_of(double relative, double absolute, bool equal_nan) {
  return {relative, absolute, equal_nan};
}

void add_operators(OperationGroup& table) {
  using In = const Lazy&;
  table.add("add(a, b)", "a + b", [](In a, In b) { return a + b; });
  table.add("subtract(a, b)", "a - b", [](In a, In b) { return a - b; });
  table.add("multiply(a, b)", "a * b", [](In a, In b) { return a * b; });
  table.add("divide(a, b)", "a / b, f32", [](In a, In b) { return a / b; });
  table.add("floor_divide(a, b)", "a / b, rounded down", floor_divide);
  table.add("remainder(a, b)", "a % b, with the sign of b", [](In a, In b) { return a % b; });
  table.add("negative(a)", "-a", [](In a) { return -a; });
  table.add("equal(a, b)", "a == b, bool", [](In a, In b) { return a == b; });
  table.add("not_equal(a, b)", "a != b, bool", [](In a, In b) { return a != b; });
  table.add("less(a, b)", "a < b, bool", [](In a, In b) { return a < b; });
  table.add("less_equal(a, b)", "a <= b, bool", [](In a, In b) { return a <= b; });
  table.add("greater(a, b)", "a > b, bool", [](In a, In b) { return a > b; });
  table.add("greater_equal(a, b)", "a >= b, bool", [](In a, In b) { return a >= b; });
  table.add("logical_and(a, b)", "a && b, bool", [](In a, In b) { return a && b; });
  table.add("logical_or(a, b)", "a || b, bool", [](In a, In b) { return a || b; });
  table.add("logical_not(a)", "!a, bool", [](In a) { return !a; });
  table.add("bitwise_and(a, b)", "a & b, of integers", [](In a, In b) { return a & b; });
  table.add("bitwise_or(a, b)", "a | b, of integers", [](In a, In b) { return a | b; });
  table.add("bitwise_xor(a, b)", "a ^ b, of integers", [](In a, In b) { return a ^ b; });
  table.add("bitwise_not(a)", "~a, of integers", [](In a) { return ~a; });
  table.add("left_shift(a, b)", "a << b, of integers", [](In a, In b) { return a << b; });
  table.add("right_shift(a, b)", "a >> b, of integers", [](In a, In b) { return a >> b; });
}

void add_functions(OperationGroup& table) {
  table.add("abs(x)", "The magnitude.", abs);
  table.add("acos(x)", "The arc cosine.", acos);
  table.add("acosh(x)", "The inverse of cosh().", acosh);
  table.add("asin(x)", "The arc sine.", asin);
  table.add("asinh(x)", "The inverse of sinh().", asinh);
  table.add("atan(x)", "The arc tangent.", atan);
  table.add("atan2(y, x)", "The angle of the point (x, y).", atan2);
  table.add("atanh(x)", "The inverse of tanh().", atanh);
  table.add("cbrt(x)", "The cube root.", cbrt);
  table.add("ceil(x)", "Rounds up.", ceil);
  table.add("clamp(x, low, high)", "The nearest value from low to high.", clamp);
  table.add("cos(x)", "The cosine.", cos);
  table.add("cosh(x)", "The hyperbolic cosine.", cosh);
  table.add("erf(x)", "The error function.", erf);
  table.add("erfc(x)", "1 - erf(x), without cancellation.", erfc);
  table.add("exp(x)", "e to the power of x.", exp);
  table.add("exp2(x)", "2 to the power of x.", exp2);
  table.add("expm1(x)", "exp(x) - 1, without cancellation.", expm1);
  table.add("floor(x)", "Rounds down.", floor);
  table.add("fmod(a, b)", "The remainder with the sign of a.", fmod);
  table.add("hypot(a, b)", "sqrt(a * a + b * b), without overflow.", hypot);
  table.add("isfinite(x)", "Whether it is neither infinite nor NaN.", isfinite);
  table.add("isinf(x)", "Whether it is infinite.", isinf);
  table.add("isnan(x)", "Whether it is NaN.", isnan);
  table.add("log(x)", "The natural logarithm.", log);
  table.add("log10(x)", "The logarithm to base 10.", log10);
  table.add("log1p(x)", "log(1 + x), without cancellation.", log1p);
  table.add("log2(x)", "The logarithm to base 2.", log2);
  table.add("maximum(a, b)", "The larger one. NaN if one is NaN.", maximum);
  table.add("minimum(a, b)", "The smaller one. NaN if one is NaN.", minimum);
  table.add("pow(a, b)", "a to the power of b.", pow);
  table.add("round(x)", "The nearest integer. Halves go to the even one.", round);
  table.add("rsqrt(x)", "1 / sqrt(x).", rsqrt);
  table.add("sigmoid(x)", "1 / (1 + exp(-x)).", sigmoid);
  table.add("sign(x)", "-1, 0 or 1.", sign);
  table.add("sin(x)", "The sine.", sin);
  table.add("sinh(x)", "The hyperbolic sine.", sinh);
  table.add("sqrt(x)", "The square root.", sqrt);
  table.add("tan(x)", "The tangent.", tan);
  table.add("tanh(x)", "The hyperbolic tangent.", tanh);
  table.add("trunc(x)", "Rounds towards 0.", trunc);
  table.add("where(condition, a, b)", "a where the condition is not 0, else b.", where);
}

}  // namespace

void add_elementwise_operations(OperationGroup&& table) {
  table.add("elementwise(expression, bindings)",
            "A formula in one pass over memory: elementwise(\"a*x + y\", { a: 2, x, y }).",
            [](std::string_view expression, const Record& bindings) {
              return elementwise(expression, bindings_of(bindings));
            });
  table.add("elementwise_into(out, expression, bindings)",
            "Writes the values of a formula to a contiguous tensor.",
            [](Tensor& out, std::string_view expression, const Record& bindings) {
              elementwise_into(out, expression, bindings_of(bindings));
            });
  table.add("update(statements, bindings)",
            "Assigns to tensors in one pass: update(\"v = m*v - g; w = w + v\", { m, g, v, w }).",
            [](std::string_view statements, const Record& bindings) {
              update(statements, bindings_of(bindings));
            });
  table.add("cast(x, dtype)", "The elements in another type.", cast);
  add_operators(table);
  add_functions(table);

  table.add("isclose(a, b, relative = 1e-5, absolute = 1e-8, equal_nan = false)",
            "|a - b| <= absolute + relative * |b|, bool.",
            [](const Tensor& a, const Tensor& b, double relative, double absolute, bool equal_nan) {
              return isclose(a, b, tolerance_of(relative, absolute, equal_nan));
            });
  table.add("allclose(a, b, relative = 1e-5, absolute = 1e-8, equal_nan = false)",
            "Whether isclose() is true for all elements.",
            [](const Tensor& a, const Tensor& b, double relative, double absolute, bool equal_nan) {
              return allclose(a, b, tolerance_of(relative, absolute, equal_nan));
            });
  table.add("array_equal(a, b)", "Whether shapes and all elements are equal.", array_equal);
  table.add("has_nan(x)", "Whether an element is NaN.", has_nan);
}

}  // namespace kaiseki::wasm
