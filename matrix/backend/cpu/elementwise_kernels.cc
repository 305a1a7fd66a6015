// SPDX-License-Identifier: MIT
// The instructions of elementwise expressions in Highway, one loop each.
#include "matrix/backend/cpu/elementwise_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/elementwise_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {

using Code = Expression::Code;

template <bool kScalar>
struct Source {
  F32 d;
  const float* values;
  VF32 all;
  explicit Source(const BlockOperand& o)
      : values(o.values), all(kScalar ? hn::Set(d, *o.values) : hn::Zero(d)) {}
  HWY_INLINE VF32 at(size_t i) const { return kScalar ? all : hn::LoadU(d, values + i); }
  HWY_INLINE VF32 part(size_t i, size_t n) const {
    return kScalar ? all : load_part(d, values + i, n);
  }
};

template <class Function>
void map(const BlockOperand& a, float* out, size_t count, Function f) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    const bool whole = left == lanes;
    const VF32 x = whole ? hn::LoadU(d, a.values + i) : load_part(d, a.values + i, left);
    const VF32 y = f(d, x);
    whole ? hn::StoreU(y, d, out + i) : store_part(d, y, out + i, left);
  }
}

template <bool kScalarA, bool kScalarB, class Function>
void map2_of(const BlockOperand& a, const BlockOperand& b, float* out, size_t count, Function f) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const Source<kScalarA> x(a);
  const Source<kScalarB> y(b);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, x.at(i), y.at(i)), d, out + i);
  const size_t rest = count - i;
  if (rest) store_part(d, f(d, x.part(i, rest), y.part(i, rest)), out + i, rest);
}

template <class Function>
void map2(const BlockOperand& a, const BlockOperand& b, float* out, size_t count, Function f) {
  if (a.scalar)
    map2_of<true, false>(a, b, out, count, f);
  else if (b.scalar)
    map2_of<false, true>(a, b, out, count, f);
  else
    map2_of<false, false>(a, b, out, count, f);
}

template <bool kScalarB, bool kScalarC>
void select_of(const BlockOperand& a, const BlockOperand& b, const BlockOperand& c, float* out,
               size_t count) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const Source<kScalarB> yes(b);
  const Source<kScalarC> no(c);
  const VF32 zero = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::IfThenElse(hn::Eq(hn::LoadU(d, a.values + i), zero), no.at(i), yes.at(i)), d,
               out + i);
  const size_t rest = count - i;
  if (rest)
    store_part(d,
               hn::IfThenElse(hn::Eq(load_part(d, a.values + i, rest), zero), no.part(i, rest),
                              yes.part(i, rest)),
               out + i, rest);
}

void select(const BlockOperand& a, const BlockOperand& b, const BlockOperand& c, float* out,
            size_t count) {
  if (b.scalar)
    c.scalar ? select_of<true, true>(a, b, c, out, count)
             : select_of<true, false>(a, b, c, out, count);
  else
    c.scalar ? select_of<false, true>(a, b, c, out, count)
             : select_of<false, false>(a, b, c, out, count);
}

void power(const BlockOperand& a, const BlockOperand& b, float* out, size_t count) {
  if (b.scalar && *b.values == 2)
    return map(a, out, count, [](F32, VF32 x) HWY_ATTR { return hn::Mul(x, x); });
  for (size_t i = 0; i < count; ++i)
    out[i] = std::pow(a.values[a.scalar ? 0 : i], b.values[b.scalar ? 0 : i]);
}

#define KAISEKI_MAP(code, expression)                      \
  case Code::code:                                         \
    return map(a, out, count, [](F32 d, VF32 x) HWY_ATTR { \
      (void)d;                                             \
      return expression;                                   \
    })
#define KAISEKI_MAP2(code, expression)                                 \
  case Code::code:                                                     \
    return map2(a, b, out, count, [](F32 d, VF32 x, VF32 y) HWY_ATTR { \
      (void)d;                                                         \
      return expression;                                               \
    })
#define KAISEKI_COMPARE(code, mask) KAISEKI_MAP2(code, hn::IfThenElseZero(mask, hn::Set(d, 1.0f)))

void run(Code code, const BlockOperand& a, const BlockOperand& b, const BlockOperand& c, float* out,
         size_t count) {
  switch (code) {
    KAISEKI_MAP(negate, hn::Neg(x));
    KAISEKI_MAP(absolute, hn::Abs(x));
    KAISEKI_MAP(square_root, hn::Sqrt(x));
    KAISEKI_MAP(reciprocal_square_root, hn::Div(hn::Set(d, 1.0f), hn::Sqrt(x)));
    KAISEKI_MAP(exponential, exp_of(d, x));
    KAISEKI_MAP(logarithm, log_of(d, x));
    KAISEKI_MAP(sine, sine_or_cosine<true>(d, x));
    KAISEKI_MAP(cosine, sine_or_cosine<false>(d, x));
    KAISEKI_MAP(hyperbolic_tangent, tanh_of(d, x));
    KAISEKI_MAP(logistic, sigmoid_of(d, x));
    KAISEKI_MAP(floor, hn::Floor(x));
    KAISEKI_MAP(ceiling, hn::Ceil(x));
    KAISEKI_MAP(round, hn::Round(x));
    KAISEKI_MAP(sign, hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)),
                                     hn::CopySign(hn::Set(d, 1.0f), x), x));
    KAISEKI_MAP(is_nan, hn::IfThenElseZero(hn::IsNaN(x), hn::Set(d, 1.0f)));
    KAISEKI_MAP2(add, hn::Add(x, y));
    KAISEKI_MAP2(subtract, hn::Sub(x, y));
    KAISEKI_MAP2(multiply, hn::Mul(x, y));
    KAISEKI_MAP2(divide, hn::Div(x, y));
    KAISEKI_MAP2(minimum, minimum_of(x, y));
    KAISEKI_MAP2(maximum, maximum_of(x, y));
    KAISEKI_COMPARE(less, hn::Lt(x, y));
    KAISEKI_COMPARE(less_equal, hn::Le(x, y));
    KAISEKI_COMPARE(greater, hn::Gt(x, y));
    KAISEKI_COMPARE(greater_equal, hn::Ge(x, y));
    KAISEKI_COMPARE(equal, hn::Eq(x, y));
    KAISEKI_MAP2(not_equal, hn::IfThenZeroElse(hn::Eq(x, y), hn::Set(d, 1.0f)));
    case Code::power:
      return power(a, b, out, count);
    case Code::select:
      return select(a, b, c, out, count);
    case Code::input:
    case Code::scalar:
    case Code::constant:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(run);

void run_instruction(Expression::Code code, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(run)(code, a, b, c, out, count);
}

}  // namespace kaiseki::cpu
#endif
