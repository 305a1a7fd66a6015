// SPDX-License-Identifier: MIT
// A bitonic sort (Batcher 1968) of rows of pairs: a key of 32 bits, then an index. Keys order as the
// values do, and a NaN has the last key. The rows are padded to a power of two with the last pair.
// TYPE: float, double, int or uchar. INTEGER: TYPE is int or uchar. For double, only search_sorted.
#ifndef F64
inline uint key_of(TYPE value, int descending) {
#ifdef INTEGER
  uint key = (uint)value ^ 0x80000000u;
#else
  if (isnan(value)) return 0xFFFFFFFFu;
  uint bits = as_uint(value == 0 ? 0.0f : value);
  uint key = bits >> 31 ? ~bits : bits | 0x80000000u;
#endif
  return descending ? ~key : key;
}

__kernel void sort_pairs(INDEX items, INDEX n, INDEX padded, int descending,
                         __global const TYPE* x, ulong x_at, __global ulong* pairs,
                         ulong pairs_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  INDEX row = item / padded, i = item % padded;
  pairs[item] =
      i < n ? (ulong)key_of(x[x_at + row * n + i], descending) << 32 | (ulong)i : ULONG_MAX;
}

// Orders the pairs `reach` apart, in blocks of `block` pairs of alternating direction.
__kernel void sort_step(INDEX items, INDEX padded, INDEX block, INDEX reach,
                        __global ulong* pairs, ulong pairs_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  INDEX row = item / (padded / 2), i = item % (padded / 2);
  INDEX low = i / reach * 2 * reach + i % reach;
  int ascending = (low & block) == 0;
  pairs += row * padded + low;
  ulong a = pairs[0], b = pairs[reach];
  if ((a > b) == ascending) {
    pairs[0] = b;
    pairs[reach] = a;
  }
}

__kernel void sort_indices(INDEX items, INDEX n, INDEX padded, __global const ulong* pairs,
                           ulong pairs_at, __global int* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item < items) y[y_at + item] = (int)(uint)pairs[item / n * padded + item % n];
}

#ifdef LEADING
#define TYPE16 JOINED(TYPE, 16)

inline void insert_pair(ulong pair, ulong* best) {
  if (pair >= best[LEADING - 1]) return;
  int at = LEADING - 1;
  for (; at > 0 && best[at - 1] > pair; --at) best[at] = best[at - 1];
  best[at] = pair;
}

// The LEADING first pairs of each piece of `piece` elements of a row, in order. A row has `pieces`.
__kernel void first_pairs(INDEX items, INDEX n, INDEX pieces, INDEX piece, int descending,
                          __global const TYPE* x, ulong x_at, __global ulong* pairs,
                          ulong pairs_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  x += x_at + item / pieces * n;
  INDEX i = item % pieces * piece, end = min(n, i + piece);
  ulong best[LEADING];
  for (int j = 0; j < LEADING; ++j) best[j] = ULONG_MAX;
  for (INDEX filled = min(end, i + LEADING); i < filled; ++i)
    insert_pair((ulong)key_of(x[i], descending) << 32 | (ulong)i, best);
  while (i < end) {
    if (i + 16 <= end) {
      // An element behind the last pair changes nothing. A NaN takes the slow way.
      TYPE16 last = x[(uint)best[LEADING - 1]], next = vload16(0, x + i);
      if (all(descending ? next <= last : next >= last)) {
        i += 16;
        continue;
      }
    }
    for (INDEX stop = min(end, i + 16); i < stop; ++i)
      insert_pair((ulong)key_of(x[i], descending) << 32 | (ulong)i, best);
  }
  for (int j = 0; j < LEADING; ++j) pairs[pairs_at + item * LEADING + j] = best[j];
}

// The `leading` first indices of each row, from the pairs of its pieces.
__kernel void first_indices(INDEX rows, INDEX n, INDEX pieces, INDEX leading,
                            __global const ulong* pairs, ulong pairs_at, __global int* y,
                            ulong y_at) {
  INDEX row = get_global_id(0);
  if (row >= rows) return;
  pairs += pairs_at + row * pieces * LEADING;
  ulong best[LEADING];
  for (int j = 0; j < LEADING; ++j) best[j] = ULONG_MAX;
  for (INDEX i = 0; i < pieces * LEADING; ++i) insert_pair(pairs[i], best);
  for (int j = 0; j < leading; ++j) y[y_at + row * n + j] = (int)(uint)best[j];
}
#endif
#endif

// Whether a comes before b.
inline int comes_before(TYPE a, TYPE b) { return a < b || (b != b && a == a); }

__kernel void search_sorted(INDEX items, INDEX n, int right, __global const TYPE* sorted,
                            ulong sorted_at, __global const TYPE* values, ulong values_at,
                            __global int* y, ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= items) return;
  TYPE value = values[values_at + item];
  INDEX low = 0, high = n;
  while (low < high) {
    INDEX middle = low + (high - low) / 2;
    TYPE element = sorted[sorted_at + middle];
    if (right ? !comes_before(value, element) : comes_before(element, value))
      low = middle + 1;
    else
      high = middle;
  }
  y[y_at + item] = low;
}
