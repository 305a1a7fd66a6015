// SPDX-License-Identifier: MIT
// Gradient of the filter of a depthwise convolution for GPUs. A work-group of GROUP items sums the
// filter of one output channel. R, S, STRIDE_H/W, PAD_H/W, DILATION_H/W and MULTIPLIER as in
// conv_depthwise.cl.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void depthwise_backward_filter_group(
    int n, int h, int w, int out_h, int out_w, int channels, float beta, __global const float* x,
    ulong x_at, __global const float* dy, ulong dy_at, __global float* filter, ulong filter_at) {
  __local float sums[GROUP];
  int channel = get_group_id(0), item = get_local_id(0), pixels = out_h * out_w;
  float totals[R * S];
#pragma unroll
  for (int t = 0; t < R * S; ++t) totals[t] = 0;
  for (int image = 0; image < n; ++image) {
    INDEX plane = (INDEX)image * channels + channel;
    __global const float* in = x + x_at + plane / MULTIPLIER * h * w;
    __global const float* out = dy + dy_at + plane * pixels;
    for (int pixel = item; pixel < pixels; pixel += GROUP) {
      float gradient = out[pixel];
      int y0 = pixel / out_w * STRIDE_H - PAD_H, x0 = pixel % out_w * STRIDE_W - PAD_W;
#pragma unroll
      for (int t = 0; t < R * S; ++t) {
        int row = y0 + t / S * DILATION_H, column = x0 + t % S * DILATION_W;
        if (row >= 0 && row < h && column >= 0 && column < w)
          totals[t] = fma(gradient, in[row * w + column], totals[t]);
      }
    }
  }
  for (int t = 0; t < R * S; ++t) {
    sums[item] = totals[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int apart = GROUP / 2; apart > 0; apart /= 2) {
      if (item < apart) sums[item] += sums[item + apart];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
      __global float* to = filter + filter_at + channel * R * S + t;
      float old = beta == 0 ? 0.0f : beta * *to;
      *to = old + sums[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
