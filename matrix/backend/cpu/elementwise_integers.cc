// SPDX-License-Identifier: MIT
// The instructions of elementwise expressions on integer lanes in Highway, and select on any lanes.
#include "matrix/backend/cpu/elementwise_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/elementwise_integers.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/elementwise_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {
using Code = Expression::Code;
using F32 = hn::ScalableTag<float>;

template <bool kScalarB, bool kScalarC>
void select_of(const BlockOperand& a, const BlockOperand& b, const BlockOperand& c, int32_t* out,
               size_t count) {
  const I32 d;
  const size_t lanes = hn::Lanes(d);
  const BlockSource<I32, false> condition(a);
  const BlockSource<I32, kScalarB> yes(b);
  const BlockSource<I32, kScalarC> no(c);
  const VI32 zero = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::IfThenElse(hn::Eq(condition.at(i), zero), no.at(i), yes.at(i)), d, out + i);
  const size_t rest = count - i;
  if (rest)
    store_part(
        d,
        hn::IfThenElse(hn::Eq(condition.part(i, rest), zero), no.part(i, rest), yes.part(i, rest)),
        out + i, rest);
}

void select(const BlockOperand& a, const BlockOperand& b, const BlockOperand& c, int32_t* out,
            size_t count) {
  if (b.scalar)
    c.scalar ? select_of<true, true>(a, b, c, out, count)
             : select_of<true, false>(a, b, c, out, count);
  else
    c.scalar ? select_of<false, true>(a, b, c, out, count)
             : select_of<false, false>(a, b, c, out, count);
}

/// Keeps the bits that the type has.
struct Wrapped {
  int32_t mask;
  HWY_INLINE VI32 operator()(I32 d, VI32 x) const { return hn::And(x, hn::Set(d, mask)); }
};

#define KAISEKI_I32(code, expression) KAISEKI_MAP(code, I32, I32, expression)
#define KAISEKI_I32_2(code, expression) KAISEKI_MAP2(code, I32, I32, expression)
#define KAISEKI_WRAPPED(code, expression) \
  case Code::code:                        \
    return map<I32, I32>(a, out, count,   \
                         [wrapped](I32 d, VI32 x) HWY_ATTR { return wrapped(d, expression); })
#define KAISEKI_WRAPPED2(code, expression)                                              \
  case Code::code:                                                                      \
    return map2<I32, I32>(a, b, out, count, [wrapped](I32 d, VI32 x, VI32 y) HWY_ATTR { \
      return wrapped(d, expression);                                                    \
    })

void run_integers(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                  const BlockOperand& c, void* out, size_t count) {
  const Wrapped wrapped{lane_mask(in.type)};
  switch (in.code) {
    KAISEKI_WRAPPED(negate, hn::Neg(x));
    KAISEKI_WRAPPED(bit_not, hn::Not(x));
    KAISEKI_WRAPPED(to_u8, x);
    KAISEKI_WRAPPED2(add, hn::Add(x, y));
    KAISEKI_WRAPPED2(subtract, hn::Sub(x, y));
    KAISEKI_WRAPPED2(multiply, hn::Mul(x, y));
    KAISEKI_I32(absolute, hn::Abs(x));
    KAISEKI_I32(sign, hn::Sub(truth(hn::Gt(x, hn::Zero(d))), truth(hn::Lt(x, hn::Zero(d)))));
    KAISEKI_I32(to_i32, x);
    KAISEKI_I32(to_bool, truth(hn::Ne(x, hn::Zero(d))));
    KAISEKI_MAP(to_f32, I32, F32, hn::ConvertTo(F32(), x));
    KAISEKI_I32_2(minimum, hn::Min(x, y));
    KAISEKI_I32_2(maximum, hn::Max(x, y));
    KAISEKI_I32_2(bit_and, hn::And(x, y));
    KAISEKI_I32_2(bit_or, hn::Or(x, y));
    KAISEKI_I32_2(bit_xor, hn::Xor(x, y));
    KAISEKI_I32_2(less, truth(hn::Lt(x, y)));
    KAISEKI_I32_2(less_equal, truth(hn::Not(hn::Lt(y, x))));
    KAISEKI_I32_2(greater, truth(hn::Gt(x, y)));
    KAISEKI_I32_2(greater_equal, truth(hn::Not(hn::Lt(x, y))));
    KAISEKI_I32_2(equal, truth(hn::Eq(x, y)));
    KAISEKI_I32_2(not_equal, truth(hn::Ne(x, y)));
    case Code::select:
      return select(a, b, c, static_cast<int32_t*>(out), count);
    default:
      return run_each_integer(in, a, b, static_cast<int32_t*>(out), count);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {
HWY_EXPORT(run_integers);

void run_on_integers(const TypedInstruction& in, const BlockOperand& a, const BlockOperand& b,
                     const BlockOperand& c, void* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(run_integers)(in, a, b, c, out, count);
}

}  // namespace kaiseki::cpu
#endif
