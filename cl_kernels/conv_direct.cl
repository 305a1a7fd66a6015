// SPDX-License-Identifier: MIT
// Convolution with stride 1 for CPUs, without im2col. Planes are copied with their padding
// (pad_planes.cl) to rows of WP elements and planes of PS elements. A work-item holds a tile of KT
// channels by ROWS x VX vectors in registers. HALF 0: a vector is 16 pixels of a row. HALF 1: 8
// pixels of each of two rows. The planes have PAD_H rows of zeros, then IN_H rows. Backward-data is
// the same convolution with the filter reversed (FLIP 1).
#define STEP (HALF ? 8 : 16)
#define VECTORS ((HALF ? ROWS / 2 : ROWS) * VX)

// Writes packed[groups][tiles][c][R][S][KT]. `k` and `c` count the channels of one group.
__kernel void pack_filter(INDEX total, int k, int c, __global const float* filter, ulong filter_at,
                          __global float* packed, ulong packed_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int lane = i % KT, s = i / KT % S, r = i / KT / S % R, channel = i / KT / S / R % c;
  INDEX tile = i / KT / S / R / c;
  int tiles = (k + KT - 1) / KT, group = tile / tiles, out = tile % tiles * KT + lane;
  float value = 0;
  if (out < k) {
#if FLIP
    INDEX at = ((INDEX)(group * c + channel) * k + out) * R * S + (R - 1 - r) * S + (S - 1 - s);
#else
    INDEX at = ((INDEX)(group * k + out) * c + channel) * R * S + r * S + s;
#endif
    value = filter[filter_at + at];
  }
  packed[packed_at + i] = value;
}

inline float16 load(__global const float* row) {
#if HALF
  return (float16)(vload8(0, row), vload8(0, row + WP));
#else
  return vload16(0, row);
#endif
}

// The first column of a vector. In a row of 16 or more, the last vector ends with the row.
inline int start_of(int vector) {
  return OW >= STEP ? min(vector * STEP, OW - STEP) : 0;
}

inline void store(float16 v, __global float* y, int rows, int column) {
  int width = min(STEP, OW - column);
#if HALF
  if (width == 8) {
    vstore8(v.lo, 0, y);
    if (rows > 1) vstore8(v.hi, 0, y + OW);
    return;
  }
#else
  if (width == 16) {
    vstore16(v, 0, y);
    return;
  }
#endif
  float lanes[16];
  vstore16(v, 0, lanes);
  for (int i = 0; i < width; ++i) y[i] = lanes[i];
#if HALF
  for (int i = 0; rows > 1 && i < width; ++i) y[OW + i] = lanes[8 + i];
#endif
}

// Work-item: tile of channels global_id(0), rows global_id(1), image global_id(2).
WIDE __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void conv_direct(
    int k, int c, int groups, int row_tiles, float slope, __global const float* restrict x,
    ulong x_at, __global const float* restrict filter, ulong filter_at,
    __global const float* restrict bias, ulong bias_at, __global float* restrict y, ulong y_at) {
  int tiles = (k + KT - 1) / KT, tile = get_global_id(0);
  int group = tile / tiles, k0 = tile % tiles * KT;
  INDEX image = get_global_id(2);
  x += x_at + (image * groups + group) * c * PS;
  filter += filter_at + (INDEX)tile * c * R * S * KT;
  y += y_at + ((image * groups + group) * k + k0) * (OH * OW);
  int last_row = min(OH, (int)(get_global_id(1) + 1) * row_tiles * ROWS);
  for (int row = get_global_id(1) * row_tiles * ROWS; row < last_row; row += ROWS) {
    for (int chunk = 0; chunk * VX * STEP < OW; ++chunk) {
      float16 sum[KT][VECTORS];
#pragma unroll
      for (int i = 0; i < KT; ++i)
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) sum[i][v] = 0;
      int starts[VX];
#pragma unroll
      for (int v = 0; v < VX; ++v) starts[v] = start_of(chunk * VX + v);
      // Skips taps that read only rows of padding.
      int first_tap = max(0, (PAD_H - row - ROWS) / DILATION_H + (row + ROWS <= PAD_H));
      int last_tap = min(R, (PAD_H + IN_H - row + DILATION_H - 1) / DILATION_H);
      for (int channel = 0; channel < c; ++channel) {
        for (int r = first_tap; r < last_tap; ++r) {
          __global const float* w = filter + ((INDEX)channel * R + r) * (S * KT);
          __global const float* from = x + (INDEX)channel * PS + (row + r * DILATION_H) * WP;
#pragma unroll
          for (int s = 0; s < S; ++s) {
            float16 in[VECTORS];
#pragma unroll
            for (int v = 0; v < VECTORS; ++v)
              in[v] = load(from + v / VX * (HALF ? 2 : 1) * WP + starts[v % VX] + s * DILATION_W);
#pragma unroll
            for (int i = 0; i < KT; ++i)
#pragma unroll
              for (int v = 0; v < VECTORS; ++v) sum[i][v] = fma((float16)(w[i]), in[v], sum[i][v]);
            w += KT;
          }
        }
      }
#pragma unroll
      for (int i = 0; i < KT; ++i) {
        float shift = 0;
#if BIAS
        shift = bias[bias_at + group * k + min(k0 + i, k - 1)];
#endif
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          int at = row + v / VX * (HALF ? 2 : 1);
          if (k0 + i < k && at < OH)
            store(activate16(sum[i][v] + shift, slope), y + (i * OH + at) * OW + starts[v % VX],
                  OH - at, starts[v % VX]);
        }
      }
    }
  }
}
