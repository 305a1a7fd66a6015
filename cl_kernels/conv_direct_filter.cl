// SPDX-License-Identifier: MIT
// Gradient of the filter of a convolution with stride 1 for CPUs, as sums of products of rows. x
// and dy are padded (pad_planes.cl) to rows of WP and OWP elements, planes of PS and OPS. A
// work-item computes KT output channels, CT input channels and all R x S taps. It reads a slice of
// the images. HALF as in conv_direct.cl. ROWS: rows of padded dy.
#define STEP (HALF ? 8 : 16)
#define TAPS (CT * S)

inline float16 load(__global const float* row, int width) {
#if HALF
  return (float16)(vload8(0, row), vload8(0, row + width));
#else
  return vload16(0, row);
#endif
}

inline float total_of(float16 v) {
  float8 a = v.lo + v.hi;
  float4 b = a.lo + a.hi;
  return (b.s0 + b.s2) + (b.s1 + b.s3);
}

// Work-item: tile of output channels global_id(0), tile of input channels global_id(1) (of one
// group), slice global_id(2). Writes y[slices][groups * k][c][R][S].
WIDE __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void conv_direct_filter(
    int n, int k, int c, int groups, int slice, __global const float* restrict x, ulong x_at,
    __global const float* restrict dy, ulong dy_at, __global float* restrict y, ulong y_at) {
  int tiles = (k + KT - 1) / KT, group = get_global_id(0) / tiles;
  int k0 = get_global_id(0) % tiles * KT, c0 = get_global_id(1) * CT;
  float16 totals[R * KT * TAPS];
  for (int i = 0; i < R * KT * TAPS; ++i) totals[i] = 0;
  int first = get_global_id(2) * slice, last = min(n, first + slice);
  for (int image = first; image < last; ++image) {
    __global const float* planes = x + x_at + ((INDEX)image * groups + group) * c * PS;
    __global const float* gradients = dy + dy_at + ((INDEX)image * groups + group) * k * OPS;
    int plane_of[KT], channel_of[CT];
#pragma unroll
    for (int i = 0; i < KT; ++i) plane_of[i] = min(k0 + i, k - 1) * OPS;
#pragma unroll
    for (int i = 0; i < CT; ++i) channel_of[i] = min(c0 + i, c - 1) * PS;
    for (int r = 0; r < R; ++r) {
      float16 sum[KT][TAPS];
#pragma unroll
      for (int i = 0; i < KT; ++i)
#pragma unroll
        for (int t = 0; t < TAPS; ++t) sum[i][t] = 0;
      for (int row = 0; row < ROWS; row += HALF ? 2 : 1)
        for (int column = 0; column < OWP; column += STEP) {
          float16 in[TAPS];
          int at = (row + r * DILATION_H) * WP + column;
#pragma unroll
          for (int t = 0; t < TAPS; ++t)
            in[t] = load(planes + channel_of[t / S] + at + t % S * DILATION_W, WP);
#pragma unroll
          for (int i = 0; i < KT; ++i) {
            float16 out = load(gradients + plane_of[i] + row * OWP + column, OWP);
#pragma unroll
            for (int t = 0; t < TAPS; ++t) sum[i][t] = fma(out, in[t], sum[i][t]);
          }
        }
#pragma unroll
      for (int i = 0; i < KT; ++i)
#pragma unroll
        for (int t = 0; t < TAPS; ++t) totals[(r * KT + i) * TAPS + t] += sum[i][t];
    }
  }
  y += y_at + ((INDEX)get_global_id(2) * groups + group) * k * c * R * S;
  for (int r = 0; r < R; ++r)
    for (int i = 0; i < KT && k0 + i < k; ++i)
      for (int t = 0; t < TAPS; ++t)
        if (c0 + t / S < c)
          y[(((INDEX)k0 + i) * c + c0 + t / S) * R * S + r * S + t % S] =
              total_of(totals[(r * KT + i) * TAPS + t]);
}
