// SPDX-License-Identifier: MIT
// Depthwise convolution for CPUs: groups of one input channel and MULTIPLIER output channels. Each
// work-item takes a plane. Rows are sorted by column % STRIDE_W. Tap s of column j is then next to
// tap s of column j + 1. Rows of ROW >= out_w columns are processed as whole vectors; columns
// outside are zeros. Defines: R, S, STRIDE_H/W, PAD_H/W, DILATION_H/W. MARGIN: zeros before a
// sorted row. PARTS: length of a sorted row with the zeros on both sides.
#define LEFT(s) ((s) * DILATION_W - PAD_W + MARGIN * STRIDE_W)
#define TAP(parts, s) ((parts)[LEFT(s) % STRIDE_W] + LEFT(s) / STRIDE_W)

inline void clear(float parts[STRIDE_W][PARTS]) {
  for (int part = 0; part < STRIDE_W; ++part)
    for (int j = 0; j < PARTS; ++j) parts[part][j] = 0;
}

inline void sort(__global const float* x, int w, float parts[STRIDE_W][PARTS]) {
  for (int part = 0; part < STRIDE_W; ++part)
    for (int j = 0; j * STRIDE_W + part < w; ++j) parts[part][MARGIN + j] = x[j * STRIDE_W + part];
}

// Work-item: plane global_id(0) of y.
WIDE __kernel void depthwise_forward(int h, int w, int out_h, int out_w, int channels, float slope,
                                     __global const float* restrict x, ulong x_at,
                                     __global const float* restrict filter, ulong filter_at,
                                     __global const float* restrict bias, ulong bias_at,
                                     __global float* restrict y, ulong y_at) {
  INDEX plane = get_global_id(0);
  int channel = plane % channels;
  x += x_at + plane / MULTIPLIER * h * w;
  y += y_at + plane * out_h * out_w;
  filter += filter_at + channel * R * S;
  float shift = 0, sums[ROW], parts[STRIDE_W][PARTS];
#if BIAS
  shift = bias[bias_at + channel];
#endif
  clear(parts);
  for (int i = 0; i < out_h; ++i, y += out_w) {
    for (int j = 0; j < ROW; ++j) sums[j] = shift;
    for (int r = 0; r < R; ++r) {
      int row = i * STRIDE_H - PAD_H + r * DILATION_H;
      if (row < 0 || row >= h) continue;
      sort(x + row * w, w, parts);
      for (int s = 0; s < S; ++s) {
        const float* taps = TAP(parts, s);
        float tap = filter[r * S + s];
        for (int j = 0; j < ROW; ++j) sums[j] = fma(tap, taps[j], sums[j]);
      }
    }
    for (int j = 0; j < out_w; ++j) y[j] = activate(sums[j], slope);
  }
}

// Work-item: plane global_id(0) of dx. `channels` counts the planes of an image.
WIDE __kernel void depthwise_backward_data(int h, int w, int out_h, int out_w, int channels,
                                           __global const float* restrict dy, ulong dy_at,
                                           __global const float* restrict filter, ulong filter_at,
                                           __global float* restrict dx, ulong dx_at) {
  INDEX plane = get_global_id(0);
  dy += dy_at + plane * MULTIPLIER * out_h * out_w;
  dx += dx_at + plane * h * w;
  filter += filter_at + plane % channels * MULTIPLIER * R * S;
  float parts[STRIDE_W][PARTS], gradients[ROW];
  for (int j = 0; j < ROW; ++j) gradients[j] = 0;
  for (int row = 0; row < h; ++row) {
    clear(parts);
    for (int r = 0; r < R; ++r) {
      int up = row + PAD_H - r * DILATION_H, i = up / STRIDE_H;
      if (up < 0 || up % STRIDE_H != 0 || i >= out_h) continue;
      for (int m = 0; m < MULTIPLIER; ++m) {
        __global const float* from = dy + (m * out_h + i) * out_w;
        for (int j = 0; j < out_w; ++j) gradients[j] = from[j];
        for (int s = 0; s < S; ++s) {
          float* sums = TAP(parts, s);
          float tap = filter[(m * R + r) * S + s];
          for (int j = 0; j < ROW; ++j) sums[j] = fma(tap, gradients[j], sums[j]);
        }
      }
    }
    for (int part = 0; part < STRIDE_W; ++part)
      for (int j = 0; j * STRIDE_W + part < w; ++j)
        dx[row * w + j * STRIDE_W + part] = parts[part][MARGIN + j];
  }
}

// Work-item: the filter of output channel global_id(0). filter = gradient + beta * filter.
WIDE __kernel void depthwise_backward_filter(int n, int h, int w, int out_h, int out_w,
                                             int channels, float beta,
                                             __global const float* restrict x, ulong x_at,
                                             __global const float* restrict dy, ulong dy_at,
                                             __global float* restrict filter, ulong filter_at) {
  int channel = get_global_id(0);
  float parts[STRIDE_W][PARTS], gradients[ROW];
  float8 totals[R * S];
  for (int t = 0; t < R * S; ++t) totals[t] = 0;
  for (int j = 0; j < ROW; ++j) gradients[j] = 0;
  clear(parts);
  for (int image = 0; image < n; ++image) {
    INDEX plane = (INDEX)image * channels + channel;
    __global const float* in = x + x_at + plane / MULTIPLIER * h * w;
    __global const float* out = dy + dy_at + plane * out_h * out_w;
    for (int i = 0; i < out_h; ++i) {
      for (int j = 0; j < out_w; ++j) gradients[j] = out[i * out_w + j];
      for (int r = 0; r < R; ++r) {
        int row = i * STRIDE_H - PAD_H + r * DILATION_H;
        if (row < 0 || row >= h) continue;
        sort(in + row * w, w, parts);
        for (int s = 0; s < S; ++s) {
          const float* taps = TAP(parts, s);
          float8 sum = totals[r * S + s];
          for (int j = 0; j < ROW; j += 8)
            sum = fma(vload8(0, taps + j), vload8(0, gradients + j), sum);
          totals[r * S + s] = sum;
        }
      }
    }
  }
  filter += filter_at + channel * R * S;
  for (int t = 0; t < R * S; ++t) {
    float4 sum = totals[t].lo + totals[t].hi;
    float old = beta == 0 ? 0.0f : beta * filter[t];
    filter[t] = old + ((sum.s0 + sum.s2) + (sum.s1 + sum.s3));
  }
}
