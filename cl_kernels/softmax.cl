// SPDX-License-Identifier: MIT
// Softmax (LOG 0) or log-softmax (LOG 1) over the middle of [outer, n, inner]. GROUP work-items
// share a row of n. The maximum is subtracted first.
#if GROUP > 1
#define COMBINE(name, join)                                         \
  inline float name(float value, __local float* shared) {           \
    int l = get_local_id(0);                                        \
    barrier(CLK_LOCAL_MEM_FENCE);                                   \
    shared[l] = value;                                              \
    for (int reach = GROUP / 2; reach > 0; reach /= 2) {               \
      barrier(CLK_LOCAL_MEM_FENCE);                                 \
      if (l < reach) shared[l] = join(shared[l], shared[l + reach]);  \
    }                                                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                   \
    return shared[0];                                               \
  }
#define PLUS(a, b) ((a) + (b))
COMBINE(group_sum, PLUS)
COMBINE(group_max, fmax)
#define ROW get_group_id(0)
#define FIRST get_local_id(0)
#define SHARED __local float shared[GROUP];
#else
#define group_sum(value, shared) (value)
#define group_max(value, shared) (value)
#define ROW get_global_id(0)
#define FIRST 0
#define SHARED
#endif

// total += term(i) over the row, added up in blocks.
#define ADD_UP(total, term)                                           \
  for (INDEX block = FIRST; block < n; block += 64 * GROUP) {         \
    float part = 0;                                                   \
    for (INDEX i = block; i < min(n, block + 64 * GROUP); i += GROUP) \
      part += (term);                                                 \
    total += part;                                                    \
  }

__kernel void softmax_forward(INDEX rows, INDEX n, INDEX inner, __global const float* x, ulong x_at,
                              __global float* y, ulong y_at) {
  SHARED
  INDEX row = ROW;
  if (row >= rows) return;
  INDEX base = row / inner * n * inner + row % inner;
  x += x_at + base;
  y += y_at + base;
  float largest = -INFINITY, total = 0;
  for (INDEX i = FIRST; i < n; i += GROUP) largest = fmax(largest, x[i * inner]);
  largest = group_max(largest, shared);
  ADD_UP(total, exp(x[i * inner] - largest))
  total = group_sum(total, shared);
#if LOG
  float shift = log(total);
  for (INDEX i = FIRST; i < n; i += GROUP) y[i * inner] = (x[i * inner] - largest) - shift;
#else
  float scale = 1.0f / total;
  for (INDEX i = FIRST; i < n; i += GROUP) y[i * inner] = exp(x[i * inner] - largest) * scale;
#endif
}

__kernel void softmax_backward(INDEX rows, INDEX n, INDEX inner, __global const float* y,
                               ulong y_at, __global const float* dy, ulong dy_at,
                               __global float* dx, ulong dx_at) {
  SHARED
  INDEX row = ROW;
  if (row >= rows) return;
  INDEX base = row / inner * n * inner + row % inner;
  y += y_at + base;
  dy += dy_at + base;
  dx += dx_at + base;
  float total = 0;
#if LOG
  ADD_UP(total, dy[i * inner])
  total = group_sum(total, shared);
  for (INDEX i = FIRST; i < n; i += GROUP)
    dx[i * inner] = dy[i * inner] - exp(y[i * inner]) * total;
#else
  ADD_UP(total, y[i * inner] * dy[i * inner])
  total = group_sum(total, shared);
  for (INDEX i = FIRST; i < n; i += GROUP) dx[i * inner] = y[i * inner] * (dy[i * inner] - total);
#endif
}
