// SPDX-License-Identifier: MIT
// How fold and scan combine two values, for each kind and element type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "matrix/backend/cpu/is_nan.h"
#include "matrix/backend/operations/reduce.h"

namespace kaiseki::cpu {

/// Sums and products of f32 are computed in double. Integers wrap, which only unsigned types may.
template <typename In>
using SumOf = std::conditional_t<std::is_floating_point_v<In>, double, uint32_t>;
template <typename In>
using SumResult = std::conditional_t<std::is_floating_point_v<In>, In, int32_t>;

template <typename In>
struct SumRule {
  using Value = SumOf<In>;
  using Result = SumResult<In>;
  static constexpr Value kStart = 0;
  static Value of(In x) { return static_cast<Value>(x); }
  static Value join(Value a, Value b) { return a + b; }
};

template <typename In>
struct ProductRule : SumRule<In> {
  using Value = SumOf<In>;
  static constexpr Value kStart = 1;
  static Value join(Value a, Value b) { return a * b; }
};

template <typename In, bool maximum>
struct ExtremeRule {
  using Value = In;
  using Result = In;
  using Limits = std::numeric_limits<In>;
  static constexpr In kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr In kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr In kStart = maximum ? kLowest : kHighest;
  static Value of(In x) { return x; }
  static Value join(Value a, Value b) { return (maximum ? a > b : a < b) || is_nan(a) ? a : b; }
};

template <typename In, bool all>
struct LogicRule {
  using Value = uint8_t;
  using Result = bool;
  static constexpr Value kStart = all;
  static Value of(In x) { return x != In{0}; }
  static Value join(Value a, Value b) { return static_cast<Value>(all ? a & b : a | b); }
};

/// Calls run(rule) with the rule of this kind.
template <typename In, class Run>
void with_rule(Reduction kind, const Run& run) {
  switch (kind) {
    case Reduction::sum:
      return run(SumRule<In>());
    case Reduction::prod:
      return run(ProductRule<In>());
    case Reduction::max:
      return run(ExtremeRule<In, true>());
    case Reduction::min:
      return run(ExtremeRule<In, false>());
    case Reduction::any:
      return run(LogicRule<In, false>());
    case Reduction::all:
      return run(LogicRule<In, true>());
    case Reduction::mean:
    case Reduction::sum_of_squares:
      throw Error(message("fold", "means and sums of squares are reductions of f32 and f64"));
  }
}

}  // namespace kaiseki::cpu
