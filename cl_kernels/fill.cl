// SPDX-License-Identifier: MIT
// y[i] = value. TYPE: float, double, int or uchar.
__kernel void fill(INDEX n, TYPE value, __global TYPE* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i < n) y[y_at + i] = value;
}
