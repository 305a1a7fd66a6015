// SPDX-License-Identifier: MIT
// Convolution as a matrix product for GPUs. The factors are read in place, without columns in
// memory. A work-group of 16 x 16 items computes a tile of TILE x TILE of group get_global_id(2),
// as in gemm_tiled.cl. `k` and `c` count the channels of one group. Defines: R, S, STRIDE, PAD,
// DILATION.
//  DIRECTION 0, forward:         y [k][image, pixel]  = filter [k][c, r, s] * x [c, r, s][image, pixel]
//  DIRECTION 1, backward-data:   dx [c][image, pixel] = filter [c][k, r, s] * dy [k, r, s][image, pixel]
//  DIRECTION 2, backward-filter: filter [k][c, r, s]  = dy [k][image, pixel] * x [image, pixel][c, r, s]
#define EACH (TILE / 16)
#define DEPTH 16
#define LOADS (TILE * DEPTH / 256)
#define STEP (256 / TILE)
#define TAPS (R * S)

typedef struct {
  int groups, k, c, h, w, out_h, out_w;
} Problem;

// The value of x [channel] in an image's group that tap (r, s) of output (row, column) reads.
inline float picture(Problem p, __global const float* x, int channel, int row, int column, int r,
                     int s) {
  int y_in = row * STRIDE_H - PAD_H + r * DILATION_H, x_in = column * STRIDE_W - PAD_W + s * DILATION_W;
  bool inside = y_in >= 0 && y_in < p.h && x_in >= 0 && x_in < p.w;
  return inside ? x[((INDEX)channel * p.h + y_in) * p.w + x_in] : 0.0f;
}

// The value of dy [out] in an image's group that tap (r, s) contributes to input (row, column).
inline float gradient(Problem p, __global const float* dy, int out, int row, int column, int r, int s) {
  int y = row + PAD_H - r * DILATION_H, z = column + PAD_W - s * DILATION_W;
  bool inside = y >= 0 && z >= 0 && y % STRIDE_H == 0 && z % STRIDE_W == 0 &&
                y / STRIDE_H < p.out_h && z / STRIDE_W < p.out_w;
  return inside ? dy[((INDEX)out * p.out_h + y / STRIDE_H) * p.out_w + z / STRIDE_W] : 0.0f;
}

// Element [row][depth] of the left factor. `a` points to the group.
inline float left_at(Problem p, __global const float* a, INDEX row, INDEX depth) {
#if DIRECTION == 0
  return a[row * p.c * TAPS + depth];
#elif DIRECTION == 1
  return a[(depth / TAPS * p.c + row) * TAPS + depth % TAPS];
#else
  int pixels = p.out_h * p.out_w;
  return a[(depth / pixels * p.groups * p.k + row) * pixels + depth % pixels];
#endif
}

// A column of the right factor, with its indices computed once.
typedef struct {
  __global const float* from;
  int row, column, channel, r, s;
} Column;

inline Column column_at(Problem p, __global const float* b, INDEX column) {
  Column at;
#if DIRECTION == 2
  at.from = b;
  at.channel = column / TAPS;
  at.r = column % TAPS / S;
  at.s = column % S;
  at.row = at.column = 0;
#else
  int width = DIRECTION == 0 ? p.out_w : p.w;
  int pixels = DIRECTION == 0 ? p.out_h * p.out_w : p.h * p.w;
  INDEX image = column / pixels;
  int pixel = column % pixels;
  INDEX plane = DIRECTION == 0 ? (INDEX)p.c * p.h * p.w : (INDEX)p.k * p.out_h * p.out_w;
  at.from = b + image * p.groups * plane;
  at.row = pixel / width;
  at.column = pixel % width;
  at.channel = at.r = at.s = 0;
#endif
  return at;
}

inline float right_at(Problem p, Column at, INDEX depth) {
#if DIRECTION == 0
  int tap = depth % TAPS;
  return picture(p, at.from, depth / TAPS, at.row, at.column, tap / S, tap % S);
#elif DIRECTION == 1
  int tap = depth % TAPS;
  return gradient(p, at.from, depth / TAPS, at.row, at.column, tap / S, tap % S);
#else
  int pixels = p.out_h * p.out_w, pixel = depth % pixels;
  __global const float* image = at.from + depth / pixels * p.groups * p.c * p.h * p.w;
  return picture(p, image, at.channel, pixel / p.out_w, pixel % p.out_w, at.r, at.s);
#endif
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void conv_implicit_gemm(
    INDEX m, INDEX n, INDEX depths, int groups, int k, int c, int h, int w, int out_h, int out_w,
    float beta, float slope, __global const float* a, ulong a_at, __global const float* b, ulong b_at,
    __global const float* bias, ulong bias_at, __global float* y, ulong y_at) {
  __local float tile_a[DEPTH][TILE + 4];
  __local float tile_b[DEPTH][TILE + 4];
  Problem p = {groups, k, c, h, w, out_h, out_w};
  int tx = get_local_id(0), ty = get_local_id(1), item = ty * 16 + tx, group = get_global_id(2);
  INDEX row0 = (INDEX)get_global_id(1) / 16 * TILE, column0 = (INDEX)get_group_id(0) * TILE;
  INDEX pictures = (INDEX)c * h * w, gradients = (INDEX)k * out_h * out_w;
  a += a_at + group * (DIRECTION == 2 ? gradients : (INDEX)k * c * TAPS);
  b += b_at + group * (DIRECTION == 1 ? gradients : pictures);
  INDEX mine = column0 + item % TILE;
  Column column = column_at(p, b, mine < n ? mine : 0);
  float sum[EACH][EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i)
#pragma unroll
    for (int j = 0; j < EACH; ++j) sum[i][j] = 0;
  for (INDEX d0 = 0; d0 < depths; d0 += DEPTH) {
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
      int i = item + 256 * load, row = i / DEPTH, depth = i % DEPTH;
      bool inside = row0 + row < m && d0 + depth < depths;
      tile_a[depth][row] = inside ? left_at(p, a, row0 + row, d0 + depth) : 0.0f;
      int deep = item / TILE + STEP * load;
      tile_b[deep][item % TILE] =
          mine < n && d0 + deep < depths ? right_at(p, column, d0 + deep) : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int depth = 0; depth < DEPTH; ++depth) {
      float left[EACH], right[EACH];
#pragma unroll
      for (int i = 0; i < EACH; ++i) left[i] = tile_a[depth][ty + 16 * i];
#pragma unroll
      for (int j = 0; j < EACH; ++j) right[j] = tile_b[depth][tx + 16 * j];
#pragma unroll
      for (int i = 0; i < EACH; ++i)
#pragma unroll
        for (int j = 0; j < EACH; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    INDEX at = column0 + tx + 16 * j;
    if (at >= n) break;
#if DIRECTION == 2
    __global float* to = y + y_at + (INDEX)group * k * c * TAPS + at;
    INDEX step = (INDEX)c * TAPS;
#else
    int channels = DIRECTION == 0 ? k : c;
    INDEX step = DIRECTION == 0 ? (INDEX)out_h * out_w : (INDEX)h * w;
    __global float* to = y + y_at + (at / step * groups + group) * channels * step + at % step;
#endif
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      INDEX row = row0 + ty + 16 * i;
      if (row >= m) break;
      float value = sum[i][j];
#if DIRECTION == 2
      if (beta != 0) value += beta * to[row * step];
#elif BIAS
      value += bias[bias_at + group * k + row];
#endif
      to[row * step] = activate(value, slope);
    }
  }
}
