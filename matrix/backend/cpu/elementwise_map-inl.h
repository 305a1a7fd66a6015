// SPDX-License-Identifier: MIT
// Loops over the lanes of a block, for functions of one and two vectors. Included once for each
// target, after foreach_target.h.
#if defined(KAISEKI_CPU_ELEMENTWISE_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CPU_ELEMENTWISE_MAP_INL_H_
#undef KAISEKI_CPU_ELEMENTWISE_MAP_INL_H_
#else
#define KAISEKI_CPU_ELEMENTWISE_MAP_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "matrix/backend/cpu/block_operand.h"
#include "matrix/backend/cpu/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::ScalableTag<int32_t>;
using VI32 = hn::Vec<I32>;

template <class D, bool kScalar>
struct BlockSource {
  D d;
  const hn::TFromD<D>* values;
  hn::Vec<D> all;
  explicit BlockSource(const BlockOperand& o)
      : values(static_cast<const hn::TFromD<D>*>(o.values)),
        all(kScalar ? hn::Set(d, *values) : hn::Zero(d)) {}
  HWY_INLINE hn::Vec<D> at(size_t i) const { return kScalar ? all : hn::LoadU(d, values + i); }
  HWY_INLINE hn::Vec<D> part(size_t i, size_t n) const {
    return kScalar ? all : load_part(d, values + i, n);
  }
};

/// D is the tag of the operand, R that of the result.
template <class D, class R, class Function>
void map(const BlockOperand& a, void* result, size_t count, Function f) {
  const D d;
  const R r;
  const BlockSource<D, false> x(a);
  auto* out = static_cast<hn::TFromD<R>*>(result);
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    const bool whole = left == lanes;
    const auto y = f(d, whole ? x.at(i) : x.part(i, left));
    whole ? hn::StoreU(y, r, out + i) : store_part(r, y, out + i, left);
  }
}

template <class D, class R, bool kScalarA, bool kScalarB, class Function>
void map2_of(const BlockOperand& a, const BlockOperand& b, void* result, size_t count, Function f) {
  const D d;
  const R r;
  const size_t lanes = hn::Lanes(d);
  const BlockSource<D, kScalarA> x(a);
  const BlockSource<D, kScalarB> y(b);
  auto* out = static_cast<hn::TFromD<R>*>(result);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, x.at(i), y.at(i)), r, out + i);
  const size_t rest = count - i;
  if (rest) store_part(r, f(d, x.part(i, rest), y.part(i, rest)), out + i, rest);
}

template <class D, class R, class Function>
void map2(const BlockOperand& a, const BlockOperand& b, void* out, size_t count, Function f) {
  if (a.scalar)
    map2_of<D, R, true, false>(a, b, out, count, f);
  else if (b.scalar)
    map2_of<D, R, false, true>(a, b, out, count, f);
  else
    map2_of<D, R, false, false>(a, b, out, count, f);
}

#define KAISEKI_MAP(code, D, R, expression)                    \
  case Expression::Code::code:                                 \
    return map<D, R>(a, out, count, [](D d, auto x) HWY_ATTR { \
      (void)d;                                                 \
      return expression;                                       \
    })
#define KAISEKI_MAP2(code, D, R, expression)                               \
  case Expression::Code::code:                                             \
    return map2<D, R>(a, b, out, count, [](D d, auto x, auto y) HWY_ATTR { \
      (void)d;                                                             \
      return expression;                                                   \
    })

/// 1 where the mask is true, else 0.
template <class M>
HWY_INLINE VI32 truth(M mask) {
  const I32 d;
  return hn::IfThenElseZero(hn::RebindMask(d, mask), hn::Set(d, 1));
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
