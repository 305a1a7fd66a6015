// SPDX-License-Identifier: MIT
// Elementary functions on Highway vectors of float, over their whole domain. They use Highway's
// functions, within 4 units in the last place. Infinities, NaN and large arguments give the results
// of <cmath>. Included once for each target, after foreach_target.h.
#if defined(KAISEKI_CPU_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CPU_MATH_INL_H_
#undef KAISEKI_CPU_MATH_INL_H_
#else
#define KAISEKI_CPU_MATH_INL_H_
#endif

#include <cmath>
#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF32 = hn::Vec<F32>;

HWY_INLINE VF32 keep_nan(VF32 x, VF32 y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

HWY_INLINE VF32 exp_of(F32 d, VF32 x) {
  return keep_nan(x, hn::Exp(d, hn::Min(x, hn::Set(d, 100.0f))));
}

/// `log` is only valid for positive finite numbers.
template <class Log>
HWY_INLINE VF32 any_log(F32 d, VF32 x, Log log) {
  const VF32 infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const VF32 zero = hn::Zero(d);
  VF32 y = hn::IfThenElse(hn::Lt(x, infinity), log(d, x), x);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, zero), hn::Sub(infinity, infinity), y);
}

HWY_INLINE VF32 log_of(F32 d, VF32 x) {
  return any_log(d, x, [](F32 tag, VF32 v) HWY_ATTR { return hn::Log(tag, v); });
}
/// log(u) x / (u - 1) for u = 1 + x corrects the rounding of u.
HWY_INLINE VF32 log1p_of(F32 d, VF32 x) {
  const VF32 one = hn::Set(d, 1.0f), infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const VF32 u = hn::Add(one, x);
  const VF32 y = hn::Mul(log_of(d, u), hn::Div(x, hn::Sub(u, one)));
  return hn::IfThenElse(hn::Or(hn::Eq(u, one), hn::Eq(u, infinity)), x, y);
}
HWY_INLINE VF32 log2_of(F32 d, VF32 x) {
  return any_log(d, x, [](F32 tag, VF32 v) HWY_ATTR { return hn::Log2(tag, v); });
}
HWY_INLINE VF32 log10_of(F32 d, VF32 x) {
  return any_log(d, x, [](F32 tag, VF32 v) HWY_ATTR { return hn::Log10(tag, v); });
}

/// NaN outside of [-1, 1].
template <class Arc>
HWY_INLINE VF32 inside_one(F32 d, VF32 x, Arc arc) {
  const VF32 infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const VF32 y =
      hn::IfThenElse(hn::Le(hn::Abs(x), hn::Set(d, 1.0f)), arc(d, x), hn::Sub(infinity, infinity));
  return keep_nan(x, y);
}
HWY_INLINE VF32 asin_of(F32 d, VF32 x) {
  return inside_one(d, x, [](F32 tag, VF32 v) HWY_ATTR { return hn::Asin(tag, v); });
}
HWY_INLINE VF32 acos_of(F32 d, VF32 x) {
  return inside_one(d, x, [](F32 tag, VF32 v) HWY_ATTR { return hn::Acos(tag, v); });
}
HWY_INLINE VF32 atan_of(F32 d, VF32 x) {
  const VF32 limit = hn::Set(d, std::numeric_limits<float>::max());
  return keep_nan(x, hn::Atan(d, hn::Min(hn::Max(x, hn::Neg(limit)), limit)));
}

HWY_INLINE VF32 tanh_of(F32 d, VF32 x) { return keep_nan(x, hn::Tanh(d, x)); }

HWY_INLINE VF32 sigmoid_of(F32 d, VF32 x) {
  const VF32 one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exp_of(d, hn::Neg(x))));
}

/// Uses Highway for absolute values up to 39000, and <cmath> lane by lane beyond that.
template <bool kSine>
HWY_INLINE VF32 sine_or_cosine(F32 d, VF32 x) {
  if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, 39000.0f)))))
    return kSine ? hn::Sin(d, x) : hn::Cos(d, x);
  alignas(64) float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    lanes[i] = kSine ? std::sin(lanes[i]) : std::cos(lanes[i]);
  return hn::Load(d, lanes);
}

/// If either operand is NaN, the result is NaN.
HWY_INLINE VF32 maximum_of(VF32 a, VF32 b) { return keep_nan(a, keep_nan(b, hn::Max(a, b))); }
HWY_INLINE VF32 minimum_of(VF32 a, VF32 b) { return keep_nan(a, keep_nan(b, hn::Min(a, b))); }

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#endif
