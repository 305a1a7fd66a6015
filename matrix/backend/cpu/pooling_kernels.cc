// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/pooling_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/pooling_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <size_t kLanes>
using Tag = hn::CappedTag<float, kLanes>;

#if HWY_TARGET == HWY_SCALAR
template <class D>
void load_pairs(D d, const float* from, hn::Vec<D>& even, hn::Vec<D>& odd) {
  even = hn::Load(d, from);
  odd = hn::Load(d, from + 1);
}
#else
template <class D>
void load_pairs(D d, const float* from, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const auto low = hn::LoadU(d, from), high = hn::LoadU(d, from + hn::Lanes(d));
  even = hn::ConcatEven(d, high, low);
  odd = hn::ConcatOdd(d, high, low);
}
#endif

template <class D>
void store_pairs(D d, hn::Vec<D> even, hn::Vec<D> odd, float* to) {
  hn::StoreInterleaved2(even, odd, d, to);
}

/// Replaces the best value if the candidate is larger, or if it is the first NaN.
template <class D>
void challenge(D d, hn::Vec<D> value, hn::Vec<hn::RebindToSigned<D>> place, hn::Vec<D>& best,
               hn::Vec<hn::RebindToSigned<D>>& index) {
  const hn::RebindToSigned<D> di;
  const auto wins = hn::Or(hn::Gt(value, best), hn::AndNot(hn::IsNaN(best), hn::IsNaN(value)));
  best = hn::IfThenElse(wins, value, best);
  index = hn::IfThenElse(hn::RebindMask(di, wins), place, index);
  (void)d;
}

template <size_t kLanes>
int64_t max_forward(const float* top, int64_t pitch, int64_t j, int64_t count, int32_t first,
                    float* y, int32_t* indices) {
  const Tag<kLanes> d;
  const hn::RebindToSigned<Tag<kLanes>> di;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const auto twice = hn::Add(hn::Iota(di, 0), hn::Iota(di, 0));
  for (; j + n <= count; j += n) {
    hn::Vec<Tag<kLanes>> best, right, left_below, right_below;
    load_pairs(d, top + 2 * j, best, right);
    load_pairs(d, top + pitch + 2 * j, left_below, right_below);
    auto index = hn::Add(twice, hn::Set(di, first + static_cast<int32_t>(2 * j)));
    const auto corner = index, below = hn::Add(corner, hn::Set(di, static_cast<int32_t>(pitch)));
    const auto one = hn::Set(di, 1);
    challenge(d, right, hn::Add(corner, one), best, index);
    challenge(d, left_below, below, best, index);
    challenge(d, right_below, hn::Add(below, one), best, index);
    hn::StoreU(best, d, y + j);
    hn::StoreU(index, di, indices + j);
  }
  return j;
}

HWY_INLINE void max_row(const float* top, int64_t pitch, int64_t count, int32_t first, float* y,
                        int32_t* indices) {
  int64_t j = max_forward<16>(top, pitch, 0, count, first, y, indices);
  j = max_forward<8>(top, pitch, j, count, first, y, indices);
  j = max_forward<4>(top, pitch, j, count, first, y, indices);
  for (; j < count; ++j) {
    const int64_t places[] = {2 * j, 2 * j + 1, pitch + 2 * j, pitch + 2 * j + 1};
    int64_t best = places[0];
    for (int64_t place : places)
      if (top[place] > top[best] || (top[place] != top[place] && top[best] == top[best]))
        best = place;
    y[j] = top[best];
    indices[j] = first + static_cast<int32_t>(best);
  }
}

template <size_t kLanes>
int64_t max_backward(const float* dy, const int32_t* indices, int64_t pitch, int64_t j,
                     int64_t count, int32_t first, float* top) {
  const Tag<kLanes> d;
  const hn::RebindToSigned<Tag<kLanes>> di;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  const auto twice = hn::Add(hn::Iota(di, 0), hn::Iota(di, 0));
  const auto one = hn::Set(di, 1), down = hn::Set(di, static_cast<int32_t>(pitch));
  for (; j + n <= count; j += n) {
    const auto index = hn::LoadU(di, indices + j);
    const auto value = hn::LoadU(d, dy + j);
    const auto corner = hn::Add(twice, hn::Set(di, first + static_cast<int32_t>(2 * j)));
    const auto below = hn::Add(corner, down);
    const auto at = [&](auto place) HWY_ATTR {
      return hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(index, place)), value);
    };
    store_pairs(d, at(corner), at(hn::Add(corner, one)), top + 2 * j);
    store_pairs(d, at(below), at(hn::Add(below, one)), top + pitch + 2 * j);
  }
  return j;
}

HWY_INLINE void max_row_backward(const float* dy, const int32_t* indices, int64_t pitch,
                                 int64_t count, int32_t first, float* top) {
  int64_t j = max_backward<16>(dy, indices, pitch, 0, count, first, top);
  j = max_backward<8>(dy, indices, pitch, j, count, first, top);
  j = max_backward<4>(dy, indices, pitch, j, count, first, top);
  for (; j < count; ++j)
    for (int64_t place : {2 * j, 2 * j + 1, pitch + 2 * j, pitch + 2 * j + 1})
      top[place] = indices[j] == first + static_cast<int32_t>(place) ? dy[j] : 0;
}

template <size_t kLanes>
int64_t average_forward(const float* top, int64_t pitch, int64_t j, int64_t count, float* y) {
  const Tag<kLanes> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  for (; j + n <= count; j += n) {
    hn::Vec<Tag<kLanes>> a, b, c, e;
    load_pairs(d, top + 2 * j, a, b);
    load_pairs(d, top + pitch + 2 * j, c, e);
    hn::StoreU(hn::Mul(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Set(d, 0.25f)), d, y + j);
  }
  return j;
}

HWY_INLINE void average_row(const float* top, int64_t pitch, int64_t count, float* y) {
  int64_t j = average_forward<16>(top, pitch, 0, count, y);
  j = average_forward<8>(top, pitch, j, count, y);
  j = average_forward<4>(top, pitch, j, count, y);
  for (; j < count; ++j) {
    const float *a = top + 2 * j, *b = a + pitch;
    y[j] = ((a[0] + a[1]) + (b[0] + b[1])) * 0.25f;
  }
}

template <size_t kLanes>
int64_t average_backward(const float* dy, int64_t pitch, int64_t j, int64_t count, float* top) {
  const Tag<kLanes> d;
  const auto n = static_cast<int64_t>(hn::Lanes(d));
  for (; j + n <= count; j += n) {
    const auto part = hn::Mul(hn::LoadU(d, dy + j), hn::Set(d, 0.25f));
    store_pairs(d, part, part, top + 2 * j);
    store_pairs(d, part, part, top + pitch + 2 * j);
  }
  return j;
}

HWY_INLINE void average_row_backward(const float* dy, int64_t pitch, int64_t count, float* top) {
  int64_t j = average_backward<16>(dy, pitch, 0, count, top);
  j = average_backward<8>(dy, pitch, j, count, top);
  j = average_backward<4>(dy, pitch, j, count, top);
  for (; j < count; ++j) {
    float *a = top + 2 * j, *b = a + pitch;
    a[0] = a[1] = b[0] = b[1] = dy[j] * 0.25f;
  }
}

void max_plane_2x2(const Plane2x2& p, const float* x, float* y, int32_t* indices) {
  for (int64_t i = 0; i < p.out_h; ++i)
    max_row(x + 2 * i * p.in_w, p.in_w, p.out_w, static_cast<int32_t>(p.first + 2 * i * p.in_w),
            y + i * p.out_w, indices + i * p.out_w);
}

void max_plane_2x2_backward(const Plane2x2& p, const float* dy, const int32_t* indices, float* dx) {
  for (int64_t i = 0; i < p.out_h; ++i)
    max_row_backward(dy + i * p.out_w, indices + i * p.out_w, p.in_w, p.out_w,
                     static_cast<int32_t>(p.first + 2 * i * p.in_w), dx + 2 * i * p.in_w);
}

void average_plane_2x2(const Plane2x2& p, const float* x, float* y) {
  for (int64_t i = 0; i < p.out_h; ++i)
    average_row(x + 2 * i * p.in_w, p.in_w, p.out_w, y + i * p.out_w);
}

void average_plane_2x2_backward(const Plane2x2& p, const float* dy, float* dx) {
  for (int64_t i = 0; i < p.out_h; ++i)
    average_row_backward(dy + i * p.out_w, p.in_w, p.out_w, dx + 2 * i * p.in_w);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {
HWY_EXPORT(max_plane_2x2);
HWY_EXPORT(max_plane_2x2_backward);
HWY_EXPORT(average_plane_2x2);
HWY_EXPORT(average_plane_2x2_backward);

void max_plane_2x2(const Plane2x2& p, const float* x, float* y, int32_t* indices) {
  HWY_DYNAMIC_DISPATCH(max_plane_2x2)(p, x, y, indices);
}
void max_plane_2x2_backward(const Plane2x2& p, const float* dy, const int32_t* indices, float* dx) {
  HWY_DYNAMIC_DISPATCH(max_plane_2x2_backward)(p, dy, indices, dx);
}
void average_plane_2x2(const Plane2x2& p, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(average_plane_2x2)(p, x, y);
}
void average_plane_2x2_backward(const Plane2x2& p, const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(average_plane_2x2_backward)(p, dy, dx);
}
}  // namespace kaiseki::cpu
#endif
