// SPDX-License-Identifier: MIT
// Index of the first maximum (MAXIMUM 1) or minimum over the middle of [outer, n, inner]. The first
// NaN counts as the extreme value. TYPE: float, double, int or uchar.
__kernel void arg_reduce(INDEX items, INDEX n, INDEX inner, __global const TYPE* x, ulong x_at,
                         __global int* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  x += x_at + item / inner * n * inner + item % inner;
  TYPE best = x[0];
  INDEX at = 0;
  for (INDEX i = 1; i < n; ++i) {
    TYPE value = x[i * inner];
#if MAXIMUM
    bool better = value > best || value != value;
#else
    bool better = value < best || value != value;
#endif
    if (better && best == best) {
      best = value;
      at = i;
    }
  }
  y[y_at + item] = at;
}
