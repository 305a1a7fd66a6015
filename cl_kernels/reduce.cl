// SPDX-License-Identifier: MIT
// Reduces [outer, n, inner] over n, split into `chunks` pieces of `chunk`: y[outer, chunks, inner].
// Each piece is reduced in a fixed order. KIND 0: sum, 1: maximum, 2: minimum, 3: sum of squares. y
// = scale * reduction + beta * y. If a value is NaN, maximum and minimum are NaN.
#if KIND == 1
#define START -INFINITY
#define JOIN(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#elif KIND == 2
#define START INFINITY
#define JOIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#else
#define START 0.0f
#define JOIN(a, b) ((a) + (b))
#endif
#if KIND == 3
#define VALUE(v) ((v) * (v))
#else
#define VALUE(v) (v)
#endif
#define REAL4 JOINED(REAL, 4)
#define REAL8 JOINED(REAL, 8)
#define REAL16 JOINED(REAL, 16)

inline void put(__global REAL* y, REAL value, REAL scale, REAL beta) {
  *y = beta == 0 ? scale * value : scale * value + beta * *y;
}

inline REAL join16(REAL16 v) {
  REAL8 a = (REAL8)(JOIN(v.s0, v.s8), JOIN(v.s1, v.s9), JOIN(v.s2, v.sa), JOIN(v.s3, v.sb),
                    JOIN(v.s4, v.sc), JOIN(v.s5, v.sd), JOIN(v.s6, v.se), JOIN(v.s7, v.sf));
  REAL4 b = (REAL4)(JOIN(a.s0, a.s4), JOIN(a.s1, a.s5), JOIN(a.s2, a.s6), JOIN(a.s3, a.s7));
  return JOIN(JOIN(b.s0, b.s2), JOIN(b.s1, b.s3));
}

inline REAL16 join_lanes(REAL16 a, REAL16 b) {
#if KIND == 1
  return ((a > b) | (a != a)) ? a : b;
#elif KIND == 2
  return ((a < b) | (a != a)) ? a : b;
#else
  return a + b;
#endif
}

// inner = 1, one work-item per piece. Uses four sums of sixteen lanes, over 1,024 values at a time.
__kernel void reduce_row(INDEX outer, INDEX n, INDEX chunk, INDEX chunks, REAL scale, REAL beta,
                         __global const REAL* x, ulong x_at, __global REAL* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= outer * chunks) return;
  INDEX row = item / chunks, first = item % chunks * chunk;
  INDEX count = min(chunk, n - first), i = 0;
  x += x_at + row * n + first;
  REAL16 all = START;
  while (i + 64 <= count) {
    REAL16 s0 = START, s1 = START, s2 = START, s3 = START;
    for (INDEX end = min(count, i + 1024); i + 64 <= end; i += 64) {
      s0 = join_lanes(s0, VALUE(vload16(0, x + i)));
      s1 = join_lanes(s1, VALUE(vload16(1, x + i)));
      s2 = join_lanes(s2, VALUE(vload16(2, x + i)));
      s3 = join_lanes(s3, VALUE(vload16(3, x + i)));
    }
    all = join_lanes(all, join_lanes(join_lanes(s0, s1), join_lanes(s2, s3)));
  }
  for (; i + 16 <= count; i += 16) all = join_lanes(all, VALUE(vload16(0, x + i)));
  REAL result = join16(all);
  for (; i < count; ++i) result = JOIN(result, VALUE(x[i]));
  put(y + y_at + item, result, scale, beta);
}

// inner = 1, one work-group of GROUP items per piece.
#ifdef GROUP
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_row_group(
    INDEX outer, INDEX n, INDEX chunk, INDEX chunks, REAL scale, REAL beta,
    __global const REAL* x, ulong x_at, __global REAL* y, ulong y_at) {
  __local REAL shared[GROUP];
  INDEX item = get_group_id(0), local_id = get_local_id(0);
  INDEX row = item / chunks, first = item % chunks * chunk;
  INDEX count = min(chunk, n - first);
  x += x_at + row * n + first;
  REAL result = START;
  for (INDEX i = local_id; i < count; i += GROUP) result = JOIN(result, VALUE(x[i]));
  shared[local_id] = result;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id < reach) shared[local_id] = JOIN(shared[local_id], shared[local_id + reach]);
  }
  if (local_id == 0) put(y + y_at + item, shared[0], scale, beta);
}
#endif

// inner > 1, one work-item per column of a piece. Adds up sums of 64 values.
__kernel void reduce_column(INDEX outer, INDEX n, INDEX inner, INDEX chunk, INDEX chunks,
                            REAL scale, REAL beta, __global const REAL* x, ulong x_at,
                            __global REAL* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= outer * chunks * inner) return;
  INDEX column = item % inner, piece = item / inner;
  INDEX row = piece / chunks, first = piece % chunks * chunk;
  INDEX count = min(chunk, n - first);
  x += x_at + (row * n + first) * inner + column;
  REAL result = START;
  for (INDEX block = 0; block < count; block += 64) {
    REAL part = START;
    for (INDEX i = block; i < min(count, block + 64); ++i) part = JOIN(part, VALUE(x[i * inner]));
    result = JOIN(result, part);
  }
  put(y + y_at + item, result, scale, beta);
}
