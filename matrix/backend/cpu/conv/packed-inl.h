// SPDX-License-Identifier: MIT
// Helpers for the inner loops of convolutions. Included once for each target, after
// foreach_target.h.
#if defined(KAISEKI_CONV_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CONV_PACKED_INL_H_
#undef KAISEKI_CONV_PACKED_INL_H_
#else
#define KAISEKI_CONV_PACKED_INL_H_
#endif

#include <hwy/highway.h>

#include "matrix/backend/cpu/part-inl.h"
#include "matrix/conv/solver.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load_part;
using cpu::HWY_NAMESPACE::store_part;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr D d;
constexpr int64_t kLanes = HWY_LANES(float);
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;

/// Applies the activations for which is_cheap() is true. Others leave v unchanged: the caller
/// applies them in a second pass.
template <class Tag>
HWY_INLINE hn::Vec<Tag> activate(Tag tag, hn::Vec<Tag> v, Activation activation, float slope) {
  const auto zero = hn::Zero(tag);
  if (activation == Activation::relu) return hn::IfThenZeroElse(hn::Lt(v, zero), v);
  if (activation == Activation::leaky_relu)
    return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, hn::Set(tag, slope)), v);
  return v;
}

}  // namespace kaiseki::conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
