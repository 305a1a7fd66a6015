// SPDX-License-Identifier: MIT
// Copies the elements of matrices with column - row >= diagonal (UPPER 1) or <= diagonal (UPPER 0).
// The others become 0. TYPE: ulong, uint or uchar.
__kernel void triangle(INDEX items, INDEX rows, INDEX columns, INDEX diagonal,
                       __global const TYPE* x, ulong x_at, __global TYPE* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  INDEX place = item % columns - item / columns % rows;
#if UPPER
  int kept = place >= diagonal;
#else
  int kept = place <= diagonal;
#endif
  y[y_at + item] = kept ? x[x_at + item] : 0;
}
