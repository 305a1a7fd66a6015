// SPDX-License-Identifier: MIT
// Convolution with one work-item per result, for many groups (depthwise) without data to share in
// tiles. `k` and `c` count the channels of one group. Defines: R, S, STRIDE, PAD, DILATION.
#define ROW_IN(row, r) ((row) * STRIDE_H - PAD_H + (r) * DILATION_H)
#define COLUMN_IN(column, s) ((column) * STRIDE_W - PAD_W + (s) * DILATION_W)

__kernel void conv_forward(INDEX total, int n, int groups, int k, int c, int h, int w, int out_h,
                           int out_w, float slope, __global const float* x, ulong x_at,
                           __global const float* filter, ulong filter_at,
                           __global const float* bias, ulong bias_at, __global float* y,
                           ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % out_w, row = i / out_w % out_h, out = i / out_w / out_h % (k * groups);
  INDEX image = i / out_w / out_h / (k * groups);
  x += x_at + (image * groups + out / k) * c * h * w;
  filter += filter_at + (INDEX)out * c * R * S;
  float sum = 0;
  for (int channel = 0; channel < c; ++channel)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int y_in = ROW_IN(row, r), x_in = COLUMN_IN(column, s);
        if (y_in >= 0 && y_in < h && x_in >= 0 && x_in < w)
          sum = fma(x[((INDEX)channel * h + y_in) * w + x_in], filter[(channel * R + r) * S + s],
                    sum);
      }
#if BIAS
  sum += bias[bias_at + out];
#endif
  y[y_at + i] = activate(sum, slope);
}

__kernel void conv_backward_data(INDEX total, int n, int groups, int k, int c, int h, int w,
                                 int out_h, int out_w, __global const float* dy, ulong dy_at,
                                 __global const float* filter, ulong filter_at,
                                 __global float* dx, ulong dx_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % w, row = i / w % h, in = i / w / h % (c * groups), group = in / c;
  INDEX image = i / w / h / (c * groups);
  dy += dy_at + (image * groups + group) * k * out_h * out_w;
  filter += filter_at + ((INDEX)group * k * c + in % c) * R * S;
  float sum = 0;
  for (int r = 0; r < R; ++r) {
    int y = row + PAD_H - r * DILATION_H;
    if (y < 0 || y % STRIDE_H != 0 || y / STRIDE_H >= out_h) continue;
    for (int s = 0; s < S; ++s) {
      int z = column + PAD_W - s * DILATION_W;
      if (z < 0 || z % STRIDE_W != 0 || z / STRIDE_W >= out_w) continue;
      for (int out = 0; out < k; ++out)
        sum = fma(dy[((INDEX)out * out_h + y / STRIDE_H) * out_w + z / STRIDE_W],
                  filter[((INDEX)out * c * R + r) * S + s], sum);
    }
  }
  dx[dx_at + i] = sum;
}

__kernel void conv_backward_filter(INDEX total, int n, int groups, int k, int c, int h, int w,
                                   int out_h, int out_w, float beta, __global const float* x,
                                   ulong x_at, __global const float* dy, ulong dy_at,
                                   __global float* filter, ulong filter_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int s = i % S, r = i / S % R, channel = i / S / R % c, out = i / S / R / c;
  x += x_at + (INDEX)(out / k * c + channel) * h * w;
  dy += dy_at + (INDEX)out * out_h * out_w;
  float total_sum = 0;
  for (int image = 0; image < n; ++image) {
    float sum = 0;
    for (int row = 0; row < out_h; ++row) {
      int y_in = ROW_IN(row, r);
      if (y_in < 0 || y_in >= h) continue;
      for (int column = 0; column < out_w; ++column) {
        int x_in = COLUMN_IN(column, s);
        if (x_in >= 0 && x_in < w)
          sum = fma(x[(INDEX)y_in * w + x_in], dy[(INDEX)row * out_w + column], sum);
      }
    }
    total_sum += sum;
    x += (INDEX)groups * c * h * w;
    dy += (INDEX)groups * k * out_h * out_w;
  }
  float old = beta == 0 ? 0.0f : beta * filter[filter_at + i];
  filter[filter_at + i] = old + total_sum;
}
