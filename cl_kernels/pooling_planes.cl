// SPDX-License-Identifier: MIT
// Pooling for CPUs, one work-item per plane. WINDOW_H/W, STRIDE_H/W, PAD_H/W and COUNT_PADDING as
// in pooling.cl. LANES 4, 8 or 16: computes this many results at once, for windows of 2 x 2 and stride
// 2. LANES 0: all other windows. For their maxima, rows of x are sorted by column % STRIDE_W.
// MARGIN values of -INFINITY come before a row. More of them follow, so that a row of ROW >= out_w
// results can be computed. PARTS is the total length.

inline bool beats(float v, float best) { return v > best || (v != v && best == best); }

#if LANES
inline void max_at(__global const float* x, int row, int column, int in_h, int in_w,
                   __global float* y, __global int* index) {
  int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
  int first = max(x0, 0), last = min(x0 + WINDOW_W, in_w);
  int at = max(y0, 0) * in_w + first;
  float best = x[at];
  for (int r = max(y0, 0); r < min(y0 + WINDOW_H, in_h); ++r)
    for (int c = first; c < last; ++c) {
      float v = x[r * in_w + c];
      if (beats(v, best)) {
        best = v;
        at = r * in_w + c;
      }
    }
  *y = best;
  *index = at;
}

#define VALUES JOINED(float, LANES)
#define PLACES JOINED(int, LANES)
#define TRY(v, place)                                                      \
  {                                                                        \
    PLACES better = (v > best) | ((v != v) & (best == best));              \
    best = select(best, v, better);                                        \
    at = select(at, (PLACES)(place), better);                              \
  }

inline void max_of_lanes(__global const float* x, int from, int in_w, __global float* y,
                         __global int* index) {
  VALUES a = LOAD(0, x + from), b = LOAD(1, x + from);
  VALUES c = LOAD(0, x + from + in_w), d = LOAD(1, x + from + in_w);
  VALUES best = (VALUES)(a.even, b.even), next = (VALUES)(a.odd, b.odd);
  PLACES at = 0;
  TRY(next, 1)
  next = (VALUES)(c.even, d.even);
  TRY(next, in_w)
  next = (VALUES)(c.odd, d.odd);
  TRY(next, in_w + 1)
  int steps[LANES];
  for (int i = 0; i < LANES; ++i) steps[i] = from + 2 * i;
  STORE(best, 0, y);
  STORE(at + LOAD(0, steps), 0, index);
}
#endif

__kernel void max_pool_planes(INDEX planes, int in_h, int in_w, int out_h, int out_w,
                              __global const float* restrict x, ulong x_at,
                              __global float* restrict y, ulong y_at,
                              __global int* restrict indices, ulong indices_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  x += x_at + plane * in_h * in_w;
  y += y_at + plane * out_h * out_w;
  indices += indices_at + plane * out_h * out_w;
#if LANES
  for (int row = 0; row < out_h; ++row, y += out_w, indices += out_w) {
    int column = 0;
    for (; column + LANES <= out_w; column += LANES)
      max_of_lanes(x, 2 * row * in_w + 2 * column, in_w, y + column, indices + column);
    for (; column < out_w; ++column)
      max_at(x, row, column, in_h, in_w, y + column, indices + column);
  }
#else
  float parts[STRIDE_W][PARTS], best[ROW];
  int at[ROW];
  for (int part = 0; part < STRIDE_W; ++part)
    for (int j = 0; j < PARTS; ++j) parts[part][j] = -INFINITY;
  for (int row = 0; row < out_h; ++row, y += out_w, indices += out_w) {
    int y0 = row * STRIDE_H - PAD_H, first = max(y0, 0), last = min(y0 + WINDOW_H, in_h);
    for (int j = 0; j < ROW; ++j) {
      best[j] = -INFINITY;
      at[j] = first * in_w + max(j * STRIDE_W - PAD_W, 0);
    }
    for (int r = first; r < last; ++r) {
      for (int part = 0; part < STRIDE_W; ++part)
        for (int j = 0; j * STRIDE_W + part < in_w; ++j)
          parts[part][MARGIN + j] = x[r * in_w + j * STRIDE_W + part];
      for (int s = 0; s < WINDOW_W; ++s) {
        int left = s - PAD_W + MARGIN * STRIDE_W, place = r * in_w + s - PAD_W;
        const float* taps = parts[left % STRIDE_W] + left / STRIDE_W;
        for (int j = 0; j < ROW; ++j) {
          float v = taps[j];
          bool better = (v > best[j]) | ((v != v) & (best[j] == best[j]));
          best[j] = better ? v : best[j];
          at[j] = better ? place + j * STRIDE_W : at[j];
        }
      }
    }
    for (int j = 0; j < out_w; ++j) y[j] = best[j];
    for (int j = 0; j < out_w; ++j) indices[j] = at[j];
  }
#endif
}

__kernel void max_pool_backward_planes(INDEX planes, int in_h, int in_w, int out_h, int out_w,
                                       __global const float* restrict dy, ulong dy_at,
                                       __global const int* restrict indices, ulong indices_at,
                                       __global float* restrict dx, ulong dx_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  int count = out_h * out_w;
  dy += dy_at + plane * count;
  indices += indices_at + plane * count;
  dx += dx_at + plane * in_h * in_w;
  for (int i = 0; i < in_h * in_w; ++i) dx[i] = 0;
  for (int i = 0; i < count; ++i) {
    int at = indices[i];
    if (at >= 0 && at < in_h * in_w) dx[at] += dy[i];
  }
}

inline int extent(int start, int window, int pad, int size) {
#if COUNT_PADDING
  return min(start + window, size + pad) - start;
#else
  return min(start + window, size) - max(start, 0);
#endif
}

__kernel void average_pool_planes(INDEX planes, int in_h, int in_w, int out_h, int out_w,
                                  __global const float* restrict x, ulong x_at,
                                  __global float* restrict y, ulong y_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  x += x_at + plane * in_h * in_w;
  y += y_at + plane * out_h * out_w;
  for (int row = 0; row < out_h; ++row)
    for (int column = 0; column < out_w; ++column) {
      int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
      float sum = 0;
      for (int r = max(y0, 0); r < min(y0 + WINDOW_H, in_h); ++r)
        for (int c = max(x0, 0); c < min(x0 + WINDOW_W, in_w); ++c) sum += x[r * in_w + c];
      int size = extent(y0, WINDOW_H, PAD_H, in_h) * extent(x0, WINDOW_W, PAD_W, in_w);
      y[row * out_w + column] = sum / size;
    }
}

__kernel void average_pool_backward_planes(INDEX planes, int in_h, int in_w, int out_h, int out_w,
                                           __global const float* restrict dy, ulong dy_at,
                                           __global float* restrict dx, ulong dx_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  dy += dy_at + plane * out_h * out_w;
  dx += dx_at + plane * in_h * in_w;
  for (int i = 0; i < in_h * in_w; ++i) dx[i] = 0;
  for (int row = 0; row < out_h; ++row)
    for (int column = 0; column < out_w; ++column) {
      int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
      int size = extent(y0, WINDOW_H, PAD_H, in_h) * extent(x0, WINDOW_W, PAD_W, in_w);
      float share = dy[row * out_w + column] / size;
      for (int r = max(y0, 0); r < min(y0 + WINDOW_H, in_h); ++r)
        for (int c = max(x0, 0); c < min(x0 + WINDOW_W, in_w); ++c) dx[r * in_w + c] += share;
    }
}
