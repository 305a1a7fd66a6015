// SPDX-License-Identifier: MIT
// Bytes [n, c, inner] to floats, by a table [c, 256]. The second dimension is a plane [inner].
__kernel void normalize_bytes(INDEX c, INDEX inner, __global const uchar* x, ulong x_at,
                              __global const float* table, ulong table_at, __global float* y,
                              ulong y_at) {
  INDEX i = get_global_id(0), plane = get_global_id(1);
  if (i >= inner) return;
  ulong at = plane * (ulong)inner + i;
  y[y_at + at] = table[table_at + plane % c * 256 + x[x_at + at]];
}
