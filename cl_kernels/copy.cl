// SPDX-License-Identifier: MIT
// Strided copy of elements of TYPE (ulong, uint or uchar). The common shape has RANK dimensions,
// with strides of both sides, from outermost to innermost. Unused dimensions are 1 with stride 0.
__kernel void copy(INDEX n, INDEX d0, INDEX d1, INDEX d2, INDEX d3, INDEX d4, INDEX d5, INDEX d6,
                   INDEX d7, INDEX s0, INDEX s1, INDEX s2, INDEX s3, INDEX s4, INDEX s5, INDEX s6,
                   INDEX s7, INDEX t0, INDEX t1, INDEX t2, INDEX t3, INDEX t4, INDEX t5, INDEX t6,
                   INDEX t7, __global const TYPE* x, ulong x_at, __global TYPE* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= n) return;
  INDEX from = 0, to = 0, at;
#define STEP(d, s, t) \
  at = i % d;         \
  i /= d;             \
  from += at * s;     \
  to += at * t;
#if RANK > 7
  STEP(d7, s7, t7)
#endif
#if RANK > 6
  STEP(d6, s6, t6)
#endif
#if RANK > 5
  STEP(d5, s5, t5)
#endif
#if RANK > 4
  STEP(d4, s4, t4)
#endif
#if RANK > 3
  STEP(d3, s3, t3)
#endif
#if RANK > 2
  STEP(d2, s2, t2)
#endif
#if RANK > 1
  STEP(d1, s1, t1)
#endif
  STEP(d0, s0, t0)
  y[y_at + to] = x[x_at + from];
}
