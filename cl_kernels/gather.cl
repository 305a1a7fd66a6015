// SPDX-License-Identifier: MIT
// Gathers rows of a table by index, and adds rows back to it. An index outside 0..n-1 gives zeros
// and adds nothing. TYPE: uint or uchar, an element of the table. Sums are float.
#ifdef TYPE
__kernel void gather(INDEX total, INDEX n, INDEX width, __global const TYPE* table, ulong table_at,
                     __global const int* rows, ulong rows_at, __global TYPE* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX row = rows[rows_at + i / width];
  y[y_at + i] = row >= 0 && row < n ? table[table_at + row * width + i % width] : 0;
}
#endif

// One work-item per column, so that additions to a row follow the order of the indices.
__kernel void scatter_add(INDEX count, INDEX n, INDEX width, __global const int* rows,
                          ulong rows_at, __global const float* source, ulong source_at,
                          __global float* table, ulong table_at) {
  INDEX column = get_global_id(0);
  if (column >= width) return;
  for (INDEX i = 0; i < count; ++i) {
    INDEX row = rows[rows_at + i];
    if (row >= 0 && row < n)
      table[table_at + row * width + column] += source[source_at + i * width + column];
  }
}
