// SPDX-License-Identifier: MIT
// Winograd's transforms of one column of a tile, and their transposes. A tile of six has the points
// 0, 1, -1, 2, -2 and infinity for any number of outputs. A tile of four has 0, 1, -1 and infinity.
// Included once for each target, after foreach_target.h.
#if defined(KAISEKI_CONV_WINOGRAD_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CONV_WINOGRAD_COLUMNS_INL_H_
#undef KAISEKI_CONV_WINOGRAD_COLUMNS_INL_H_
#else
#define KAISEKI_CONV_WINOGRAD_COLUMNS_INL_H_
#endif

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv::HWY_NAMESPACE {

/// B^T.
HWY_INLINE void transform_input(const V (&x)[6], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
  const V even = hn::NegMulAdd(four, x[2], x[4]), odd = hn::NegMulAdd(four, x[1], x[3]);
  const V near = hn::Sub(x[4], x[2]), far = hn::Sub(x[3], x[1]);
  const V twice = hn::Add(far, far);
  y[0] = hn::MulAdd(four, x[0], hn::NegMulAdd(five, x[2], x[4]));
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(near, twice);
  y[4] = hn::Sub(near, twice);
  y[5] = hn::MulAdd(four, x[1], hn::NegMulAdd(five, x[3], x[5]));
}

HWY_INLINE void transform_input(const V (&x)[4], V (&y)[4]) {
  y[0] = hn::Sub(x[0], x[2]);
  y[1] = hn::Add(x[1], x[2]);
  y[2] = hn::Sub(x[2], x[1]);
  y[3] = hn::Sub(x[3], x[1]);
}

/// A^T.
HWY_INLINE void transform_output(const V (&x)[6], V (&y)[4]) {
  const V sum = hn::Add(x[1], x[2]), difference = hn::Sub(x[1], x[2]);
  const V far_sum = hn::Add(x[3], x[4]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], sum), far_sum);
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_sum, sum);
  y[3] = hn::Add(hn::MulAdd(hn::Set(d, 8.0f), far_difference, difference), x[5]);
}

HWY_INLINE void transform_output(const V (&x)[6], V (&y)[2]) {
  const V difference = hn::Sub(x[1], x[2]), far_difference = hn::Sub(x[3], x[4]);
  y[0] = hn::Add(hn::Add(x[0], hn::Add(x[1], x[2])), hn::Add(x[3], x[4]));
  y[1] = hn::Add(hn::MulAdd(hn::Set(d, 2.0f), far_difference, difference), x[5]);
}

HWY_INLINE void transform_output(const V (&x)[4], V (&y)[2]) {
  y[0] = hn::Add(x[0], hn::Add(x[1], x[2]));
  y[1] = hn::Add(hn::Sub(x[1], x[2]), x[3]);
}

/// G: the polynomial at each of the six points, divided by the factors that B^T leaves out.
template <size_t kTaps>
HWY_INLINE void transform_filter(const V (&g)[kTaps], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f), sixth = hn::Set(d, -1.0f / 6), small = hn::Set(d, 1.0f / 24);
  V near_even = hn::Add(g[0], g[2]), far_even = hn::MulAdd(four, g[2], g[0]);
  V near_odd = g[1], far_odd = g[1];
  if constexpr (kTaps == 5) {
    near_even = hn::Add(near_even, g[4]);
    far_even = hn::MulAdd(hn::Set(d, 16.0f), g[4], far_even);
    near_odd = hn::Add(near_odd, g[3]);
    far_odd = hn::MulAdd(four, g[3], far_odd);
  }
  far_odd = hn::Add(far_odd, far_odd);
  y[0] = hn::Mul(g[0], hn::Set(d, 0.25f));
  y[1] = hn::Mul(hn::Add(near_even, near_odd), sixth);
  y[2] = hn::Mul(hn::Sub(near_even, near_odd), sixth);
  y[3] = hn::Mul(hn::Add(far_even, far_odd), small);
  y[4] = hn::Mul(hn::Sub(far_even, far_odd), small);
  y[5] = g[kTaps - 1];
}

HWY_INLINE void transform_filter(const V (&g)[3], V (&y)[4]) {
  const V half = hn::Set(d, 0.5f), even = hn::Add(g[0], g[2]);
  y[0] = g[0];
  y[1] = hn::Mul(hn::Add(even, g[1]), half);
  y[2] = hn::Mul(hn::Sub(even, g[1]), half);
  y[3] = g[2];
}

/// A: the transpose of transform_output.
HWY_INLINE void transform_gradient(const V (&x)[4], V (&y)[6]) {
  const V four = hn::Set(d, 4.0f);
  const V even = hn::Add(x[0], x[2]), odd = hn::Add(x[1], x[3]);
  const V far_even = hn::MulAdd(four, x[2], x[0]), half = hn::MulAdd(four, x[3], x[1]);
  const V far_odd = hn::Add(half, half);
  y[0] = x[0];
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(far_even, far_odd);
  y[4] = hn::Sub(far_even, far_odd);
  y[5] = x[3];
}

HWY_INLINE void transform_gradient(const V (&x)[2], V (&y)[6]) {
  const V twice = hn::Add(x[1], x[1]);
  y[0] = x[0];
  y[1] = hn::Add(x[0], x[1]);
  y[2] = hn::Sub(x[0], x[1]);
  y[3] = hn::Add(x[0], twice);
  y[4] = hn::Sub(x[0], twice);
  y[5] = x[1];
}

HWY_INLINE void transform_gradient(const V (&x)[2], V (&y)[4]) {
  y[0] = x[0];
  y[1] = hn::Add(x[0], x[1]);
  y[2] = hn::Sub(x[0], x[1]);
  y[3] = x[1];
}

/// G^T: the transpose of transform_filter.
template <size_t kTaps>
HWY_INLINE void transform_sums(const V (&x)[6], V (&y)[kTaps]) {
  const V sixth = hn::Set(d, -1.0f / 6), small = hn::Set(d, 1.0f / 24);
  const V even = hn::Mul(sixth, hn::Add(x[1], x[2])), odd = hn::Mul(sixth, hn::Sub(x[1], x[2]));
  const V far_even = hn::Mul(small, hn::Add(x[3], x[4]));
  const V far_odd = hn::Mul(small, hn::Sub(x[3], x[4]));
  y[0] = hn::MulAdd(hn::Set(d, 0.25f), x[0], hn::Add(even, far_even));
  y[1] = hn::MulAdd(hn::Set(d, 2.0f), far_odd, odd);
  y[2] = hn::MulAdd(hn::Set(d, 4.0f), far_even, even);
  if constexpr (kTaps == 5) {
    y[3] = hn::MulAdd(hn::Set(d, 8.0f), far_odd, odd);
    y[4] = hn::MulAdd(hn::Set(d, 16.0f), far_even, even);
  }
  y[kTaps - 1] = hn::Add(y[kTaps - 1], x[5]);
}

HWY_INLINE void transform_sums(const V (&x)[4], V (&y)[3]) {
  const V half = hn::Set(d, 0.5f), even = hn::Mul(half, hn::Add(x[1], x[2]));
  y[0] = hn::Add(x[0], even);
  y[1] = hn::Mul(half, hn::Sub(x[1], x[2]));
  y[2] = hn::Add(even, x[3]);
}

}  // namespace kaiseki::conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
