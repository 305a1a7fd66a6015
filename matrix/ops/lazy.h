// SPDX-License-Identifier: MIT
// Operators and functions of tensors: `2.0f * a - b / c`, `a += b`, `sqrt(a)`, `a == b`. They build
// a Lazy, which converts to a Tensor in one pass over memory. docs/arrays.md says why, and lists
// the functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "matrix/tensor.h"

namespace kaiseki {

/// An elementwise expression that is not computed yet. Every conversion to a Tensor computes it
/// from the contents that its tensors have then. A part of a large expression may be computed
/// earlier. Throws ShapeError, as elementwise() does.
class Lazy {
 public:
  struct Node;

  Lazy(const Tensor& tensor);
  /// An integer is an i32, or an f32 if i32 cannot hold it.
  template <class T>
  requires std::is_arithmetic_v<T> Lazy(T number) : Lazy(make(static_cast<Wide<T>>(number))) {}
  /// `code` is a function or an operator of the language of elementwise().
  static Lazy call(std::string_view code, const Lazy& a);
  static Lazy call(std::string_view code, const Lazy& a, const Lazy& b);
  static Lazy call(std::string_view code, const Lazy& a, const Lazy& b, const Lazy& c);

  operator Tensor() const { return eval(); }
  Tensor eval() const;
  /// Computes into `out`, as elementwise_into() does. `out` may have any strides.
  void eval_into(Tensor& out) const;

 private:
  template <class T>
  using Wide =
      std::conditional_t<std::is_integral_v<T> && (sizeof(T) < 8 || std::is_signed_v<T>), int64_t,
                         std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;
  explicit Lazy(std::shared_ptr<const Node> node);
  static Lazy make(int64_t number);
  static Lazy make(uint64_t number);
  static Lazy make(double number);
  static Lazy join(std::string_view code, const Lazy* const (&operands)[3]);

  std::shared_ptr<const Node> node_;
};

// clang-format off
inline Lazy operator-(const Lazy& a) { return Lazy::call("-", a); }
inline Lazy operator!(const Lazy& a) { return Lazy::call("!", a); }
inline Lazy operator~(const Lazy& a) { return Lazy::call("~", a); }

#define KAISEKI_OPERATOR(sign) \
  inline Lazy operator sign(const Lazy& a, const Lazy& b) { return Lazy::call(#sign, a, b); }
KAISEKI_OPERATOR(+)  KAISEKI_OPERATOR(-)  KAISEKI_OPERATOR(*)  KAISEKI_OPERATOR(/)  KAISEKI_OPERATOR(%)
KAISEKI_OPERATOR(==) KAISEKI_OPERATOR(!=) KAISEKI_OPERATOR(<)  KAISEKI_OPERATOR(<=)
KAISEKI_OPERATOR(>)  KAISEKI_OPERATOR(>=) KAISEKI_OPERATOR(&&) KAISEKI_OPERATOR(||)
KAISEKI_OPERATOR(&)  KAISEKI_OPERATOR(|)  KAISEKI_OPERATOR(^)  KAISEKI_OPERATOR(<<) KAISEKI_OPERATOR(>>)
#undef KAISEKI_OPERATOR

// Compound assignment computes in place: every view of the same storage sees it.
#define KAISEKI_ASSIGNMENT(sign) \
  inline Tensor& operator sign##=(Tensor& a, const Lazy& b) { \
    (Lazy(a) sign b).eval_into(a); \
    return a; \
  }
KAISEKI_ASSIGNMENT(+) KAISEKI_ASSIGNMENT(-) KAISEKI_ASSIGNMENT(*) KAISEKI_ASSIGNMENT(/) KAISEKI_ASSIGNMENT(%)
KAISEKI_ASSIGNMENT(&) KAISEKI_ASSIGNMENT(|) KAISEKI_ASSIGNMENT(^) KAISEKI_ASSIGNMENT(<<) KAISEKI_ASSIGNMENT(>>)
#undef KAISEKI_ASSIGNMENT

#define KAISEKI_FUNCTION(name) \
  inline Lazy name(const Lazy& x) { return Lazy::call(#name, x); }
KAISEKI_FUNCTION(abs)   KAISEKI_FUNCTION(acos)  KAISEKI_FUNCTION(acosh)    KAISEKI_FUNCTION(asin)
KAISEKI_FUNCTION(asinh) KAISEKI_FUNCTION(atan)  KAISEKI_FUNCTION(atanh)    KAISEKI_FUNCTION(cbrt)
KAISEKI_FUNCTION(ceil)  KAISEKI_FUNCTION(cos)   KAISEKI_FUNCTION(cosh)     KAISEKI_FUNCTION(erf)
KAISEKI_FUNCTION(erfc)  KAISEKI_FUNCTION(exp)   KAISEKI_FUNCTION(exp2)     KAISEKI_FUNCTION(expm1)
KAISEKI_FUNCTION(floor) KAISEKI_FUNCTION(isinf) KAISEKI_FUNCTION(isfinite) KAISEKI_FUNCTION(isnan)
KAISEKI_FUNCTION(log)   KAISEKI_FUNCTION(log10) KAISEKI_FUNCTION(log1p)    KAISEKI_FUNCTION(log2)
KAISEKI_FUNCTION(round) KAISEKI_FUNCTION(rsqrt) KAISEKI_FUNCTION(sigmoid)  KAISEKI_FUNCTION(sign)
KAISEKI_FUNCTION(sin)   KAISEKI_FUNCTION(sinh)  KAISEKI_FUNCTION(sqrt)     KAISEKI_FUNCTION(tan)
KAISEKI_FUNCTION(tanh)  KAISEKI_FUNCTION(trunc)
#undef KAISEKI_FUNCTION
    // clang-format on

    inline Lazy atan2(const Lazy& y, const Lazy& x) {
  return Lazy::call("atan2", y, x);
}
inline Lazy add(const Lazy& a, const Lazy& b) { return a + b; }
inline Lazy subtract(const Lazy& a, const Lazy& b) { return a - b; }
inline Lazy multiply(const Lazy& a, const Lazy& b) { return a * b; }
inline Lazy divide(const Lazy& a, const Lazy& b) { return a / b; }
inline Lazy fmod(const Lazy& a, const Lazy& b) { return Lazy::call("fmod", a, b); }
inline Lazy hypot(const Lazy& a, const Lazy& b) { return Lazy::call("hypot", a, b); }
inline Lazy pow(const Lazy& a, const Lazy& b) { return Lazy::call("pow", a, b); }
/// The elementwise max and min of the language. max() and min() of a tensor are reductions.
inline Lazy maximum(const Lazy& a, const Lazy& b) { return Lazy::call("max", a, b); }
inline Lazy minimum(const Lazy& a, const Lazy& b) { return Lazy::call("min", a, b); }
/// The operator // of the language, which is no operator of C++.
inline Lazy floor_divide(const Lazy& a, const Lazy& b) { return Lazy::call("//", a, b); }
inline Lazy clamp(const Lazy& x, const Lazy& low, const Lazy& high) {
  return Lazy::call("clamp", x, low, high);
}
/// a where the condition is true (not 0), else b.
inline Lazy where(const Lazy& condition, const Lazy& a, const Lazy& b) {
  return Lazy::call("where", condition, a, b);
}

}  // namespace kaiseki
