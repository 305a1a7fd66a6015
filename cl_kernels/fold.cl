// SPDX-License-Identifier: MIT
// Reductions and scans over the middle of [outer, n, inner]. KIND 0: sum, 1: maximum, 2: minimum,
// 3: product, 4: any, 5: all. IN and OUT: float, double, int or uchar. Integers wrap. A NaN
// propagates.
#if KIND == 0
#define START 0
#define JOIN(a, b) ((a) + (b))
#elif KIND == 1
#define JOIN(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#elif KIND == 2
#define JOIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#elif KIND == 3
#define START 1
#define JOIN(a, b) ((a) * (b))
#elif KIND == 4
#define START 0
#define JOIN(a, b) ((a) | (b))
#else
#define START 1
#define JOIN(a, b) ((a) & (b))
#endif
#if KIND >= 4
#define VALUE(v) ((v) != 0)
#elif defined(WRAPS)  // the overflow of a signed sum is undefined
#define VALUE(v) ((uint)(v))
#else
#define VALUE(v) (v)
#endif
#ifdef WRAPS
#define SUM uint
#else
#define SUM OUT
#endif

// Reduces pieces of `chunk` values to y [outer, chunks, inner].
__kernel void fold(INDEX items, INDEX n, INDEX inner, INDEX chunk, INDEX chunks,
                   __global const IN* x, ulong x_at, __global OUT* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  INDEX column = item % inner, piece = item / inner;
  INDEX row = piece / chunks, first = piece % chunks * chunk, end = min(n, first + chunk);
  x += x_at + row * n * inner + column;
#ifdef START
  SUM total = START;
#else
  SUM total = x[first * inner];
#endif
  for (INDEX i = first; i < end; ++i) total = JOIN(total, VALUE(x[i * inner]));
  y[y_at + item] = (OUT)total;
}

__kernel void scan(INDEX items, INDEX n, INDEX inner, __global const IN* x, ulong x_at,
                   __global OUT* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  INDEX first = item / inner * n * inner + item % inner;
  x += x_at + first;
  y += y_at + first;
#ifdef START
  SUM total = START;
#else
  SUM total = x[0];
#endif
  for (INDEX i = 0; i < n; ++i) {
    total = JOIN(total, VALUE(x[i * inner]));
    y[i * inner] = (OUT)total;
  }
}
