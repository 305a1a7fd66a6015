// SPDX-License-Identifier: MIT
// Loads and stores of vectors that are only partly in memory. Included once for each target, after
// foreach_target.h.
#if defined(KAISEKI_CPU_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CPU_PART_INL_H_
#undef KAISEKI_CPU_PART_INL_H_
#else
#define KAISEKI_CPU_PART_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads the first `count` values of a vector; the other lanes are 0. Memory beyond them is not
/// read.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const hn::TFromD<D>* from, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#else
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(d)] = {};
  std::memcpy(part, from, static_cast<size_t>(count) * sizeof(hn::TFromD<D>));
  return hn::Load(d, part);
#endif
}

template <class D>
HWY_INLINE void store_part(D d, hn::Vec<D> v, hn::TFromD<D>* to, int64_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#else
  HWY_ALIGN hn::TFromD<D> part[hn::MaxLanes(d)];
  hn::Store(v, d, part);
  std::memcpy(to, part, static_cast<size_t>(count) * sizeof(hn::TFromD<D>));
#endif
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
