// SPDX-License-Identifier: MIT
// Distances of rows [n, features] from centers [count, features], and sums of the rows of each
// cluster. A work-item computes the distances of 16 rows from CENTERS centers at a time. ALONG 1:
// vectors run along features, else over rows. PRODUCTS: products of rows and centers instead.
#ifdef CENTERS
#ifdef PRODUCTS
#define ADD_TERM(value, center, sum) fma(value, center, sum)
#else
#define ADD_TERM(value, center, sum) fma((value) - (center), (value) - (center), sum)
#endif

inline float sum16(float16 v) {
  float8 a = v.lo + v.hi;
  float4 b = a.lo + a.hi;
  return (b.x + b.y) + (b.z + b.w);
}

// For many features: vectors run along a pair of rows.
inline void distances_along_rows(INDEX row0, INDEX n, INDEX features, __global const float* x,
                                 __global const float** to, float16* sums) {
  float lanes[CENTERS][16];
  for (int r = 0; r < 16; r += 2) {
    __global const float* a = x + min(n - 1, row0 + r) * features;
    __global const float* b = x + min(n - 1, row0 + r + 1) * features;
    float16 left[CENTERS], right[CENTERS];
#pragma unroll
    for (int c = 0; c < CENTERS; ++c) left[c] = right[c] = 0;
    INDEX i = 0;
    for (; i + 16 <= features; i += 16) {
      float16 first = vload16(0, a + i), second = vload16(0, b + i);
#pragma unroll
      for (int c = 0; c < CENTERS; ++c) {
        float16 center = vload16(0, to[c] + i);
        left[c] = ADD_TERM(first, center, left[c]);
        right[c] = ADD_TERM(second, center, right[c]);
      }
    }
    for (int c = 0; c < CENTERS; ++c) {
      float near = sum16(left[c]), far = sum16(right[c]);
      for (INDEX rest = i; rest < features; ++rest) {
        near = ADD_TERM(a[rest], to[c][rest], near);
        far = ADD_TERM(b[rest], to[c][rest], far);
      }
      lanes[c][r] = near;
      lanes[c][r + 1] = far;
    }
  }
#pragma unroll
  for (int c = 0; c < CENTERS; ++c) sums[c] = vload16(0, lanes[c]);
}

// For few features: vectors run over the 16 rows. Rows beyond the last repeat it.
#define ADD_FEATURE(ROW)                                                                      \
  float16 value = (float16)(ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7),   \
                            ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14),      \
                            ROW(15));                                                         \
  _Pragma("unroll") for (int c = 0; c < CENTERS; ++c)                                         \
    sums[c] = ADD_TERM(value, (float16)(to[c][i]), sums[c]);
#define WHOLE_ROW(l) x[(l) * features + i]
#define LAST_ROW(l) x[min(rest - 1, (INDEX)(l)) * features + i]

inline void distances_across_rows(INDEX row0, INDEX n, INDEX features, __global const float* x,
                                  __global const float** to, float16* sums) {
#pragma unroll
  for (int c = 0; c < CENTERS; ++c) sums[c] = 0;
  INDEX rest = n - row0;
  x += row0 * features;
  if (rest >= 16) {
    for (INDEX i = 0; i < features; ++i) {
      ADD_FEATURE(WHOLE_ROW)
    }
  } else {
    for (INDEX i = 0; i < features; ++i) {
      ADD_FEATURE(LAST_ROW)
    }
  }
}

// sums[c]: the squared distances from center first + c. Centers beyond the last repeat it.
inline void distances_of_rows(INDEX row0, INDEX n, INDEX features, INDEX first, INDEX count,
                              __global const float* x, __global const float* centers,
                              float16* sums) {
  __global const float* to[CENTERS];
#pragma unroll
  for (int c = 0; c < CENTERS; ++c) to[c] = centers + min(count - 1, first + c) * features;
#if ALONG
  distances_along_rows(row0, n, features, x, to, sums);
#else
  distances_across_rows(row0, n, features, x, to, sums);
#endif
}

#ifdef PRODUCTS
// C = alpha * X centers^T + beta * C + bias, with the columns of C as centers.
WIDE __kernel void row_products(INDEX n, INDEX features, INDEX count, INDEX ldc, float alpha,
                                float beta, __global const float* x, ulong x_at,
                                __global const float* centers, ulong centers_at,
                                __global const float* bias, ulong bias_at, __global float* y,
                                ulong y_at) {
  INDEX row0 = (INDEX)get_global_id(0) * 16;
  if (row0 >= n) return;
  float16 sums[CENTERS];
  float lanes[CENTERS][16];
  distances_of_rows(row0, n, features, 0, count, x + x_at, centers + centers_at, sums);
#pragma unroll
  for (int c = 0; c < CENTERS; ++c) vstore16(alpha * sums[c], 0, lanes[c]);
  for (int l = 0; l < min((INDEX)16, n - row0); ++l)
    for (int c = 0; c < count; ++c) {
      __global float* into = y + y_at + (row0 + l) * ldc + c;
      float value = lanes[c][l];
      if (beta != 0) value += beta * *into;
#if BIAS
      value += bias[bias_at + c];
#endif
      *into = value;
    }
}
#else
inline void put16(float16 value, INDEX rest, __global float* y) {
  if (rest >= 16) {
    vstore16(value, 0, y);
  } else {
    float lanes[16];
    vstore16(value, 0, lanes);
    for (int l = 0; l < rest; ++l) y[l] = lanes[l];
  }
}

WIDE __kernel void squared_distances(INDEX n, INDEX features, INDEX count,
                                     __global const float* x, ulong x_at,
                                     __global const float* centers, ulong centers_at,
                                     __global float* y, ulong y_at) {
  INDEX row0 = (INDEX)get_global_id(0) * 16;
  if (row0 >= n) return;
  float16 sums[CENTERS];
  for (INDEX first = 0; first < count; first += CENTERS) {
    distances_of_rows(row0, n, features, first, count, x + x_at, centers + centers_at, sums);
#pragma unroll
    for (int c = 0; c < CENTERS; ++c)
      if (first + c < count) put16(sums[c], n - row0, y + y_at + (first + c) * n + row0);
  }
}

WIDE __kernel void nearest_labels(INDEX n, INDEX features, INDEX count, __global const float* x,
                                   ulong x_at, __global const float* centers, ulong centers_at,
                                   __global int* labels, ulong labels_at, __global float* squares,
                                   ulong squares_at) {
  INDEX row0 = (INDEX)get_global_id(0) * 16;
  if (row0 >= n) return;
  float16 sums[CENTERS], least = INFINITY;
  int16 label = 0;
  for (INDEX first = 0; first < count; first += CENTERS) {
    distances_of_rows(row0, n, features, first, count, x + x_at, centers + centers_at, sums);
#pragma unroll
    for (int c = 0; c < CENTERS; ++c) {
      int16 closer = sums[c] < least;
      least = select(least, sums[c], closer);
      label = select(label, (int16)(first + c), closer);
    }
  }
  put16(least, n - row0, squares + squares_at + row0);
  int lanes[16];
  vstore16(label, 0, lanes);
  for (int l = 0; l < min((INDEX)16, n - row0); ++l) labels[labels_at + row0 + l] = lanes[l];
}
#endif
#endif

// y [pieces, m, n]: the sums of a[row][i] * b[row][j] over pieces of `piece` rows.
WIDE __kernel void column_products(INDEX m, INDEX n, INDEX k, INDEX lda, INDEX ldb, INDEX pieces,
                                   INDEX piece, __global const float* a, ulong a_at,
                                   __global const float* b, ulong b_at, __global float* y,
                                   ulong y_at) {
  INDEX item = get_global_id(0);
  if (item >= pieces) return;
  y += y_at + item * m * n;
  for (INDEX i = 0; i < m * n; ++i) y[i] = 0;
  INDEX row = item * piece, end = min(k, row + piece);
  while (row < end) {
    // Four rows for each access to the sums.
    INDEX rows = min((INDEX)4, end - row);
    __global const float* left = a + a_at + row * lda;
    __global const float* right = b + b_at + row * ldb;
    for (INDEX i = 0; i < m; ++i) {
      float w0 = left[i], w1 = rows > 1 ? left[lda + i] : 0, w2 = rows > 2 ? left[2 * lda + i] : 0,
            w3 = rows > 3 ? left[3 * lda + i] : 0;
      __global float* sum = y + i * n;
      INDEX j = 0;
      if (rows == 4)
        for (; j + 16 <= n; j += 16) {
          float16 total = vload16(0, sum + j);
          total = fma((float16)(w0), vload16(0, right + j), total);
          total = fma((float16)(w1), vload16(0, right + ldb + j), total);
          total = fma((float16)(w2), vload16(0, right + 2 * ldb + j), total);
          total = fma((float16)(w3), vload16(0, right + 3 * ldb + j), total);
          vstore16(total, 0, sum + j);
        }
      for (; j < n; ++j) {
        float total = fma(w0, right[j], sum[j]);
        if (rows > 1) total = fma(w1, right[ldb + j], total);
        if (rows > 2) total = fma(w2, right[2 * ldb + j], total);
        if (rows > 3) total = fma(w3, right[3 * ldb + j], total);
        sum[j] = total;
      }
    }
    row += rows;
  }
}

// y [pieces, count, features + 1]: the sums of pieces of `piece` rows, one work-item per piece.
__kernel void cluster_sums(INDEX n, INDEX features, INDEX count, INDEX pieces, INDEX piece,
                           __global const float* x, ulong x_at, __global const int* labels,
                           ulong labels_at, __global float* y, ulong y_at) {
  INDEX item = get_global_id(0), width = features + 1;
  if (item >= pieces) return;
  y += y_at + item * count * width;
  for (INDEX i = 0; i < count * width; ++i) y[i] = 0;
  for (INDEX row = item * piece; row < min(n, (item + 1) * piece); ++row) {
    int label = labels[labels_at + row];
    if (label < 0 || label >= count) continue;
    __global float* sum = y + label * width;
    __global const float* from = x + x_at + row * features;
    INDEX i = 0;
    for (; i + 16 <= features; i += 16)
      vstore16(vload16(0, sum + i) + vload16(0, from + i), 0, sum + i);
    for (; i < features; ++i) sum[i] += from[i];
    sum[features] += 1;
  }
}

// The same with one work-item per piece and column.
__kernel void cluster_sums_columns(INDEX n, INDEX features, INDEX count, INDEX pieces, INDEX piece,
                                   __global const float* x, ulong x_at,
                                   __global const int* labels, ulong labels_at, __global float* y,
                                   ulong y_at) {
  INDEX width = features + 1, item = (INDEX)get_global_id(0) / width;
  INDEX column = (INDEX)get_global_id(0) % width;
  if (item >= pieces) return;
  y += y_at + item * count * width + column;
  for (INDEX j = 0; j < count; ++j) y[j * width] = 0;
  for (INDEX row = item * piece; row < min(n, (item + 1) * piece); ++row) {
    int label = labels[labels_at + row];
    if (label < 0 || label >= count) continue;
    y[label * width] += column < features ? x[x_at + row * features + column] : 1.0f;
  }
}
