// SPDX-License-Identifier: MIT
// Elements by index along the middle of x [outer, n, inner]. The selected elements are [outer,
// count, inner]. The indices are [count] if SHARED, else [outer, count, inner]. A negative index
// counts from the end. An index outside -n..n-1 gives zeros and changes nothing. TYPE: ulong, uint
// or uchar; for add_at float or int.
inline INDEX element(INDEX outer, INDEX j, INDEX column, INDEX n, INDEX inner, INDEX count,
                     __global const int* indices) {
#if SHARED
  INDEX index = indices[j];
#else
  INDEX index = indices[(outer * count + j) * inner + column];
#endif
  if (index < 0) index += n;
  return index >= 0 && index < n ? (outer * n + index) * inner + column : -1;
}

__kernel void take(INDEX total, INDEX n, INDEX inner, INDEX count, __global const int* indices,
                   ulong indices_at, __global const TYPE* x, ulong x_at, __global TYPE* y,
                   ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX row = i / inner;
  INDEX from = element(row / count, row % count, i % inner, n, inner, count, indices + indices_at);
  y[y_at + i] = from < 0 ? 0 : x[x_at + from];
}

// One work-item per column, so that changes follow the order of the indices.
__kernel void put(INDEX columns, INDEX n, INDEX inner, INDEX count, __global const int* indices,
                  ulong indices_at, __global const TYPE* from, ulong from_at, __global TYPE* x,
                  ulong x_at) {
  INDEX i = get_global_id(0);
  if (i >= columns) return;
  INDEX outer = i / inner, column = i % inner;
  for (INDEX j = 0; j < count; ++j) {
    INDEX to = element(outer, j, column, n, inner, count, indices + indices_at);
    if (to >= 0) x[x_at + to] = from[from_at + (outer * count + j) * inner + column];
  }
}

__kernel void add_at(INDEX columns, INDEX n, INDEX inner, INDEX count, __global const int* indices,
                     ulong indices_at, __global const TYPE* from, ulong from_at, __global TYPE* x,
                     ulong x_at) {
  INDEX i = get_global_id(0);
  if (i >= columns) return;
  INDEX outer = i / inner, column = i % inner;
  for (INDEX j = 0; j < count; ++j) {
    INDEX to = element(outer, j, column, n, inner, count, indices + indices_at);
    if (to >= 0) x[x_at + to] += from[from_at + (outer * count + j) * inner + column];
  }
}

// The order does not change a sum of integers.
__kernel void add_integers_at(INDEX total, INDEX n, INDEX inner, INDEX count,
                              __global const int* indices, ulong indices_at,
                              __global const int* from, ulong from_at, __global int* x,
                              ulong x_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX row = i / inner;
  INDEX to = element(row / count, row % count, i % inner, n, inner, count, indices + indices_at);
  if (to >= 0) atomic_add(x + x_at + to, from[from_at + i]);
}
