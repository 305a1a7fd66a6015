// SPDX-License-Identifier: MIT
// The instructions of elementwise expressions on floats in Highway, one loop each.
#include "matrix/backend/cpu/elementwise_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/elementwise_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/elementwise_map-inl.h"
#include "matrix/backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {

using Code = Expression::Code;

HWY_INLINE VI32 to_i32_of(F32 d, VF32 x, float low, float high) {
  const I32 i;
  const auto whole = hn::ConvertTo(i, hn::Min(hn::Max(x, hn::Set(d, low)), hn::Set(d, high)));
  return hn::IfThenZeroElse(hn::RebindMask(i, hn::IsNaN(x)), whole);
}

/// 2^31 is no i32, and the largest float below it is not the largest i32.
HWY_INLINE VI32 to_i32_saturated(F32 d, VF32 x) {
  const I32 i;
  const auto whole = to_i32_of(d, x, -2147483648.0f, 2147483520.0f);
  const auto above = hn::RebindMask(i, hn::Ge(x, hn::Set(d, 2147483648.0f)));
  return hn::IfThenElse(above, hn::Set(i, 2147483647), whole);
}

#define KAISEKI_F32(code, expression) KAISEKI_MAP(code, F32, F32, expression)
#define KAISEKI_F32_2(code, expression) KAISEKI_MAP2(code, F32, F32, expression)
#define KAISEKI_COMPARE(code, mask) KAISEKI_MAP2(code, F32, I32, truth(mask))

void run_floats(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                float* out, size_t count) {
  switch (in.code) {
    KAISEKI_F32(negate, hn::Neg(x));
    KAISEKI_F32(absolute, hn::Abs(x));
    KAISEKI_F32(square_root, hn::Sqrt(x));
    KAISEKI_F32(reciprocal_square_root, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)));
    KAISEKI_F32(exponential, exp_of(d, x));
    KAISEKI_F32(logarithm, log_of(d, x));
    KAISEKI_F32(logarithm_1p, log1p_of(d, x));
    KAISEKI_F32(logarithm_2, log2_of(d, x));
    KAISEKI_F32(logarithm_10, log10_of(d, x));
    KAISEKI_F32(sine, sine_or_cosine<true>(d, x));
    KAISEKI_F32(cosine, sine_or_cosine<false>(d, x));
    KAISEKI_F32(arc_sine, asin_of(d, x));
    KAISEKI_F32(arc_cosine, acos_of(d, x));
    KAISEKI_F32(arc_tangent, atan_of(d, x));
    KAISEKI_F32(hyperbolic_tangent, tanh_of(d, x));
    KAISEKI_F32(logistic, sigmoid_of(d, x));
    KAISEKI_F32(floor, hn::Floor(x));
    KAISEKI_F32(ceiling, hn::Ceil(x));
    KAISEKI_F32(round, hn::Round(x));
    KAISEKI_F32(truncate, hn::Trunc(x));
    KAISEKI_F32(sign, hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)),
                                     hn::CopySign(hn::Set(d, 1.0f), x), x));
    KAISEKI_F32_2(add, hn::Add(x, y));
    KAISEKI_F32_2(subtract, hn::Sub(x, y));
    KAISEKI_F32_2(multiply, hn::Mul(x, y));
    KAISEKI_F32_2(divide, hn::Div(x, y));
    KAISEKI_F32_2(minimum, minimum_of(x, y));
    KAISEKI_F32_2(maximum, maximum_of(x, y));
    KAISEKI_COMPARE(less, hn::Lt(x, y));
    KAISEKI_COMPARE(less_equal, hn::Le(x, y));
    KAISEKI_COMPARE(greater, hn::Gt(x, y));
    KAISEKI_COMPARE(greater_equal, hn::Ge(x, y));
    KAISEKI_COMPARE(equal, hn::Eq(x, y));
    KAISEKI_COMPARE(not_equal, hn::Not(hn::Eq(x, y)));
    KAISEKI_MAP(is_nan, F32, I32, truth(hn::IsNaN(x)));
    KAISEKI_MAP(is_infinite, F32, I32, truth(hn::IsInf(x)));
    KAISEKI_MAP(is_finite, F32, I32, truth(hn::IsFinite(x)));
    KAISEKI_MAP(to_bool, F32, I32, truth(hn::Not(hn::Eq(x, hn::Zero(d)))));
    KAISEKI_MAP(to_u8, F32, I32, to_i32_of(d, x, 0.0f, 255.0f));
    KAISEKI_MAP(to_i32, F32, I32, to_i32_saturated(d, x));
    default:
      break;
  }
  if (in.code == Code::power && b.scalar && *static_cast<const float*>(b.values) == 2)
    return map<F32, F32>(a, out, count, [](F32, VF32 x) HWY_ATTR { return hn::Mul(x, x); });
  run_each_float(in.code, a, b, out, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(run_floats);

void run_on_floats(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                   float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(run_floats)(in, a, b, out, count);
}

void run_instruction(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, void* out, size_t count) {
  if (in.code == Expression::Code::select || lane_of(in.operands) == Lane::i32)
    run_on_integers(in, a, b, c, out, count);
  else
    run_on_floats(in, a, b, static_cast<float*>(out), count);
}

}  // namespace kaiseki::cpu
#endif
