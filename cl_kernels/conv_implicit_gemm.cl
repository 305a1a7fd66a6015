// SPDX-License-Identifier: MIT
// Convolution as a matrix product for GPUs (tile_product.cl). The factors are read in place, without
// columns in memory. `k` and `c` count the channels of one group. Defines: R, S, STRIDE, PAD,
// DILATION, and for the left factor and the result WHOLE_A and WHOLE_C as in gemm_tiled.cl.
//  DIRECTION 0, forward:         y [k][image, pixel]  = filter [k][c, r, s] * x [c, r, s][image, pixel]
//  DIRECTION 1, backward-data:   dx [c][image, pixel] = filter [c][k, r, s] * dy [k, r, s][image, pixel]
//  DIRECTION 2, backward-filter: filter [k][c, r, s]  = dy [k][image, pixel] * x [image, pixel][c, r, s]
// Dimension 2 of the range has `parts` parts of `span` terms for each group. Several parts have one
// result each.
#define TAPS (R * S)
// Whether a tap lies in the picture is looked up if the taps fit in the bits of a number.
#define BITS (DIRECTION != 2 && TAPS <= 64)

typedef struct {
  int c, h, w, out_h, out_w;
} Sizes;

// Whether input (y, x) exists.
inline bool is_inside(int y, int x, Sizes p) { return y >= 0 && y < p.h && x >= 0 && x < p.w; }

// Whether tap (r, s) contributes output gradients to input (row, column) + PAD.
inline bool has_gradient(int row, int column, int r, int s, Sizes p) {
  int y = row - r * DILATION_H, x = column - s * DILATION_W;
  return y >= 0 && x >= 0 && y % STRIDE_H == 0 && x % STRIDE_W == 0 && y / STRIDE_H < p.out_h &&
         x / STRIDE_W < p.out_w;
}

#if DIRECTION != 2
// Element `depth` of a column of the right factor. `row` and `column`: the pixel's first tap.
inline float right_of(__global const float* from, INDEX depth, INDEX last, int row, int column,
                      ulong valid, Sizes p) {
  const INDEX channel = depth / TAPS;
  const int tap = depth % TAPS, r = tap / S, s = tap % S;
  if (depth >= last) return 0;
#if DIRECTION == 0
  const int y = row + r * DILATION_H, x = column + s * DILATION_W;
#if BITS
  return valid >> tap & 1 ? from[(channel * p.h + y) * p.w + x] : 0;
#else
  return is_inside(y, x, p) ? from[(channel * p.h + y) * p.w + x] : 0;
#endif
#else
  const int y = (row - r * DILATION_H) / STRIDE_H, x = (column - s * DILATION_W) / STRIDE_W;
#if BITS
  return valid >> tap & 1 ? from[(channel * p.out_h + y) * p.out_w + x] : 0;
#else
  return has_gradient(row, column, r, s, p) ? from[(channel * p.out_h + y) * p.out_w + x] : 0;
#endif
#endif
}
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void conv_implicit_gemm(
    INDEX m, INDEX n, INDEX depths, INDEX parts, INDEX span, int groups, int k, int c, int h, int w,
    int out_h, int out_w, float beta, float slope, __global const float* restrict a, ulong a_at,
    __global const float* restrict b, ulong b_at, __global const float* restrict bias,
    ulong bias_at, __global float* restrict y, ulong y_at) {
  __local REAL4 tile_a[2][TILE_K * PITCH_A], tile_b[2][TILE_K * PITCH_B];
  const Sizes p = {c, h, w, out_h, out_w};
  const int item = get_local_id(0), item_row = ITEM_ROW, item_column = ITEM_COLUMN;
  const INDEX layer = get_global_id(2), group = layer / parts;
  const INDEX first = layer % parts * span;
  const INDEX last = depths - first < span ? depths : first + span;
  const INDEX row0 = (INDEX)get_global_id(1) * TILE_M, column0 = (INDEX)get_group_id(0) * TILE_N;
  const INDEX picture = (INDEX)c * h * w, gradient = (INDEX)k * out_h * out_w;
  a += a_at + group * (DIRECTION == 2 ? gradient : (INDEX)k * c * TAPS);
  b += b_at + group * (DIRECTION == 1 ? gradient : picture);
  float sum[EACH_M][EACH_N];
#pragma unroll
  for (int i = 0; i < EACH_M; ++i)
#pragma unroll
    for (int j = 0; j < EACH_N; ++j) sum[i][j] = 0;

#if DIRECTION == 2
  // The output pixels that this item loads, of the left and of the right factor.
  const int pixels = out_h * out_w;
  INDEX image_a = (first + (WHOLE_A ? ALONG_DEPTH(0) : LANE_DEPTH)) / pixels;
  int pixel_a = (first + (WHOLE_A ? ALONG_DEPTH(0) : LANE_DEPTH)) % pixels;
  INDEX image_b = (first + LANE_DEPTH) / pixels;
  int row_b = (first + LANE_DEPTH) % pixels / out_w, column_b = (first + LANE_DEPTH) % pixels % out_w;
  // The columns of the right factor: where their tap of pixel 0 is.
  int from_row[LOADS_B], from_column[LOADS_B];
  INDEX from[LOADS_B];
#pragma unroll
  for (int e = 0; e < LOADS_B; ++e) {
    const INDEX at = min(column0 + LANE_AT(e), n - 1);
    from_row[e] = at % TAPS / S * DILATION_H - PAD_H;
    from_column[e] = at % S * DILATION_W - PAD_W;
    from[e] = (at / TAPS * h + from_row[e]) * w + from_column[e];
  }
#else
  // The pixel that this item loads, and the place of its first tap.
  const INDEX mine = min(column0 + COLUMN_AT(TILE_N), n - 1);
  const int width = DIRECTION == 0 ? out_w : w, plane = DIRECTION == 0 ? out_h * out_w : h * w;
  const INDEX image = mine / plane;
  const int pixel = mine % plane;
  const int row = DIRECTION == 0 ? pixel / width * STRIDE_H - PAD_H : pixel / width + PAD_H;
  const int column = DIRECTION == 0 ? pixel % width * STRIDE_W - PAD_W : pixel % width + PAD_W;
  b += image * groups * (DIRECTION == 0 ? picture : gradient);
#if BITS
  ulong valid = 0;
  for (int tap = 0; tap < TAPS; ++tap) {
    const int r = tap / S, s = tap % S;
    const bool is_valid = DIRECTION == 0 ? is_inside(row + r * DILATION_H, column + s * DILATION_W, p)
                                         : has_gradient(row, column, r, s, p);
    valid |= (ulong)is_valid << tap;
  }
#endif
#endif

  REAL4 next_a[LOADS_A / 4];
  float next_b[LOADS_B];
#if DIRECTION == 0
#define LEFT(e)                                                                             \
  LOAD4(WHOLE_A, a, min(row0 + ALONG_AT(e), m - 1) * depths + k0 + ALONG_DEPTH(e),          \
        last - k0 - ALONG_DEPTH(e))
#elif DIRECTION == 1
#define LEFT_ONE(e)                                                                         \
  (k0 + LANE_DEPTH < last                                                                   \
       ? a[((k0 + LANE_DEPTH) / TAPS * c + min(row0 + LANE_AT(e), m - 1)) * TAPS +          \
           (k0 + LANE_DEPTH) % TAPS]                                                        \
       : 0)
#elif WHOLE_A
#define LEFT(e)                                                                             \
  LOAD4(1, a, (image_a * groups * k + min(row0 + ALONG_AT(e), m - 1)) * pixels + pixel_a,   \
        last - k0 - ALONG_DEPTH(e))
#else
#define LEFT_ONE(e)                                                                         \
  (k0 + LANE_DEPTH < last                                                                   \
       ? a[(image_a * groups * k + min(row0 + LANE_AT(e), m - 1)) * pixels + pixel_a]       \
       : 0)
#endif
#ifdef LEFT
#define STORE_LEFT(e) store_along(tile_a[side], PITCH_A, ALONG_DEPTH(e), ALONG_AT(e), next_a[(e) / 4])
#else
#define LEFT(e) (REAL4)(LEFT_ONE(e), LEFT_ONE(e + 1), LEFT_ONE(e + 2), LEFT_ONE(e + 3))
#define STORE_LEFT(e)                                                           \
  store_one(tile_a[side], PITCH_A, LANE_DEPTH, LANE_AT(e), next_a[(e) / 4].s0);     \
  store_one(tile_a[side], PITCH_A, LANE_DEPTH, LANE_AT(e + 1), next_a[(e) / 4].s1); \
  store_one(tile_a[side], PITCH_A, LANE_DEPTH, LANE_AT(e + 2), next_a[(e) / 4].s2); \
  store_one(tile_a[side], PITCH_A, LANE_DEPTH, LANE_AT(e + 3), next_a[(e) / 4].s3)
#endif

#define LOAD_STEP                                                                               \
  LOAD_QUADS(next_a, LEFT, LOADS_A)                                                             \
  _Pragma("unroll") for (int e = 0; e < LOADS_B; ++e) next_b[e] = RIGHT(e);                     \
  ADVANCE
#define STORE_STEP                                                                              \
  STORE_QUADS(STORE_LEFT, LOADS_A)                                                              \
  _Pragma("unroll") for (int e = 0; e < LOADS_B; ++e)                                           \
      store_one(tile_b[side], PITCH_B, RIGHT_DEPTH(e), RIGHT_AT(e), next_b[e]);
#if DIRECTION == 2
#define RIGHT_AT(e) LANE_AT(e)
#define RIGHT_DEPTH(e) LANE_DEPTH
#define RIGHT(e)                                                                             \
  (k0 + LANE_DEPTH < last && is_inside(row_b * STRIDE_H + from_row[e],                       \
                                       column_b * STRIDE_W + from_column[e], p)              \
       ? b[image_b * groups * picture + (INDEX)row_b * STRIDE_H * w + column_b * STRIDE_W + from[e]] \
       : 0)
#define ADVANCE                                                                 \
  for (pixel_a += TILE_K; pixel_a >= pixels; pixel_a -= pixels) ++image_a;      \
  for (column_b += TILE_K; column_b >= out_w; column_b -= out_w) ++row_b;       \
  for (; row_b >= out_h; row_b -= out_h) ++image_b;
#else
#define RIGHT_AT(e) COLUMN_AT(TILE_N)
#define RIGHT_DEPTH(e) COLUMN_DEPTH(e, TILE_N)
#define RIGHT(e) right_of(b, k0 + RIGHT_DEPTH(e), last, row, column, valid, p)
#define ADVANCE
#endif
#if !BITS
#define valid 0
#endif

  int side = 0;
  INDEX k0 = first;
  LOAD_STEP
  STORE_STEP
  barrier(CLK_LOCAL_MEM_FENCE);
  while (k0 < last) {
    k0 += TILE_K;
    if (k0 < last) {
      LOAD_STEP
    }
    multiply_step(tile_a[side], tile_b[side], item_row, item_column, sum);
    side ^= 1;
    if (k0 < last) {
      STORE_STEP
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int j = 0; j < EACH_N; j += 4) {
    const INDEX at = column0 + COLUMN_OF(j);
    if (at >= n) break;
#if DIRECTION == 2
    const INDEX step = n;
    __global float* to = y + y_at + layer * m * n + at;
#else
    const INDEX step = plane;
#define TO(at) (y + y_at + ((at) / step * groups + group) * m * step + (at) % step)
    __global float* to = TO(at);
#endif
#pragma unroll
    for (int i = 0; i < EACH_M; ++i) {
      const INDEX channel = row0 + ROW_OF(i);
      if (channel >= m) continue;
      REAL4 value = (REAL4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
#if DIRECTION == 2
      if (beta != 0) value += beta * LOAD4(WHOLE_C, to, channel * step, n - at);
#elif BIAS
      value += bias[bias_at + group * k + channel];
#endif
      value = (REAL4)(activate(value.s0, slope), activate(value.s1, slope),
                      activate(value.s2, slope), activate(value.s3, slope));
#if DIRECTION == 2 || WHOLE_C
      STORE4(WHOLE_C, to + channel * step, value, n - at);
#else
      to[channel * step] = value.s0;
      if (at + 1 < n) TO(at + 1)[channel * step] = value.s1;
      if (at + 2 < n) TO(at + 2)[channel * step] = value.s2;
      if (at + 3 < n) TO(at + 3)[channel * step] = value.s3;
#endif
    }
  }
}
