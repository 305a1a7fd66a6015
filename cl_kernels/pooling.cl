// SPDX-License-Identifier: MIT
// Pooling over planes. Defines: WINDOW_H/W, STRIDE_H/W, PAD_H/W. COUNT_PADDING divides by the whole
// window, including padding. Backward passes gather, so each result is one sum in a fixed order.
__kernel void max_pool(INDEX total, int in_h, int in_w, int out_h, int out_w,
                       __global const float* x, ulong x_at, __global float* y, ulong y_at,
                       __global int* indices, ulong indices_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % out_w, row = i / out_w % out_h;
  x += x_at + i / out_w / out_h * in_h * in_w;
  int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
  float best = -INFINITY;
  int at = max(y0, 0) * in_w + max(x0, 0);
  for (int r = max(y0, 0); r < min(y0 + WINDOW_H, in_h); ++r)
    for (int c = max(x0, 0); c < min(x0 + WINDOW_W, in_w); ++c) {
      float v = x[r * in_w + c];
      if (v > best || (isnan(v) && !isnan(best))) {
        best = v;
        at = r * in_w + c;
      }
    }
  y[y_at + i] = best;
  indices[indices_at + i] = at;
}

#define FIRST(i, window, stride, pad) ((i) + (pad) < (window) ? 0 : ((i) + (pad) - (window)) / (stride) + 1)
#define LAST(i, stride, pad, count) min((count)-1, ((i) + (pad)) / (stride))

__kernel void max_pool_backward(INDEX total, int in_h, int in_w, int out_h, int out_w,
                                __global const float* dy, ulong dy_at, __global const int* indices,
                                ulong indices_at, __global float* dx, ulong dx_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % in_w, row = i / in_w % in_h, me = row * in_w + column;
  INDEX plane = i / in_w / in_h * out_h * out_w;
  dy += dy_at + plane;
  indices += indices_at + plane;
  float sum = 0;
  for (int r = FIRST(row, WINDOW_H, STRIDE_H, PAD_H); r <= LAST(row, STRIDE_H, PAD_H, out_h); ++r)
    for (int c = FIRST(column, WINDOW_W, STRIDE_W, PAD_W); c <= LAST(column, STRIDE_W, PAD_W, out_w);
         ++c)
      if (indices[r * out_w + c] == me) sum += dy[r * out_w + c];
  dx[dx_at + i] = sum;
}

inline float share(int row, int column, int in_h, int in_w) {
  int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
#if COUNT_PADDING
  int height = min(y0 + WINDOW_H, in_h + PAD_H) - y0, width = min(x0 + WINDOW_W, in_w + PAD_W) - x0;
#else
  int height = min(y0 + WINDOW_H, in_h) - max(y0, 0), width = min(x0 + WINDOW_W, in_w) - max(x0, 0);
#endif
  return 1.0f / (height * width);
}

__kernel void average_pool(INDEX total, int in_h, int in_w, int out_h, int out_w,
                           __global const float* x, ulong x_at, __global float* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % out_w, row = i / out_w % out_h;
  x += x_at + i / out_w / out_h * in_h * in_w;
  int y0 = row * STRIDE_H - PAD_H, x0 = column * STRIDE_W - PAD_W;
  float sum = 0;
  for (int r = max(y0, 0); r < min(y0 + WINDOW_H, in_h); ++r)
    for (int c = max(x0, 0); c < min(x0 + WINDOW_W, in_w); ++c) sum += x[r * in_w + c];
  y[y_at + i] = sum * share(row, column, in_h, in_w);
}

__kernel void average_pool_backward(INDEX total, int in_h, int in_w, int out_h, int out_w,
                                    __global const float* dy, ulong dy_at, __global float* dx,
                                    ulong dx_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % in_w, row = i / in_w % in_h;
  dy += dy_at + i / in_w / in_h * out_h * out_w;
  float sum = 0;
  for (int r = FIRST(row, WINDOW_H, STRIDE_H, PAD_H); r <= LAST(row, STRIDE_H, PAD_H, out_h); ++r)
    for (int c = FIRST(column, WINDOW_W, STRIDE_W, PAD_W); c <= LAST(column, STRIDE_W, PAD_W, out_w);
         ++c)
      sum += dy[r * out_w + c] * share(r, c, in_h, in_w);
  dx[dx_at + i] = sum;
}
