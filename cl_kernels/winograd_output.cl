// SPDX-License-Identifier: MIT
// Transforms the products of Winograd's convolution F(OUTPUTS x OUTPUTS, TAPS x TAPS) back to
// outputs or gradients of filters. Elements, LANES and work-items as in winograd_input.cl.
#define TILE (OUTPUTS + TAPS - 1)
#define FILTER (TAPS * TAPS)

// A^T: `count` sums over the points. Each sum has one more power of the points.
inline void gather_points(const VEC* x, int count, VEC* y) {
  VEC near[2] = {x[1] + x[2], x[1] - x[2]};
#if TILE == 6
  VEC far[2] = {x[3] + x[4], x[3] - x[4]};
#else
  VEC far[2] = {0, 0};
#endif
#pragma unroll
  for (int i = 0; i < count; ++i) y[i] = near[i % 2] + (float)(1 << i) * far[i % 2];
  y[0] += x[0];
  y[count - 1] += x[TILE - 1];
}

inline VEC get(__global const float* from) {
#if LANES == 1
  return *from;
#else
  return LOAD(0, from);
#endif
}

// Computes y[r][s], `count` values in each direction.
inline void transform(__global const float* from, INDEX element_stride, int count, VEC* y) {
  VEC mixed[TILE][TILE];
#pragma unroll
  for (int s = 0; s < TILE; ++s) {
    VEC column[TILE];
#pragma unroll
    for (int r = 0; r < TILE; ++r) column[r] = get(from + (r * TILE + s) * element_stride);
    gather_points(column, count, mixed[s]);
  }
  for (int r = 0; r < count; ++r) {
    VEC row[TILE];
#pragma unroll
    for (int s = 0; s < TILE; ++s) row[s] = mixed[s][r];
    gather_points(row, count, y + r * count);
  }
}

#if LANES > 1
// Interleaves: a0 b0 a1 b1 ...
inline void zip(VEC a, VEC b, VEC* both) {
  both[0].even = a.lo;
  both[0].odd = b.lo;
  both[1].even = a.hi;
  both[1].odd = b.hi;
}

// row[OUTPUTS * lane + i] = y[i].
inline void unsort(const VEC* y, float* row) {
#if OUTPUTS == 2
  VEC both[2];
  zip(y[0], y[1], both);
#else
  VEC even[2], odd[2], both[4];
  zip(y[0], y[2], even);
  zip(y[1], y[3], odd);
  zip(even[0], odd[0], both);
  zip(even[1], odd[1], both + 2);
#endif
#pragma unroll
  for (int i = 0; i < OUTPUTS; ++i) STORE(both[i], i, row);
}
#endif

// y = activation(transformed m + bias), with m[element][channels][tiles] for the rows of tiles from
// row0 on. Rows and columns of tiles beyond y are not written.
WIDE __kernel void winograd_output(INDEX tiles, int row0, int tiles_h, int tiles_w, int h, int w,
                                   INDEX image_stride, INDEX element_stride, float slope,
                                   __global const float* restrict m, ulong m_at,
                                   __global const float* restrict bias, ulong bias_at,
                                   __global float* restrict y, ulong y_at) {
#if LANES == 1
  INDEX tile = get_global_id(0), channel = get_global_id(1);
  if (tile >= tiles) return;
  int row = row0 + tile / tiles_w;
  int y0 = row % tiles_h * OUTPUTS, x0 = tile % tiles_w * OUTPUTS;
  VEC out[OUTPUTS * OUTPUTS];
  transform(m + m_at + channel * tiles + tile, element_stride, OUTPUTS, out);
  float shift = 0;
#if BIAS
  shift = bias[bias_at + channel];
#endif
  y += y_at + row / tiles_h * image_stride + channel * h * w;
#pragma unroll
  for (int r = 0; r < OUTPUTS; ++r)
#pragma unroll
    for (int s = 0; s < OUTPUTS; ++s)
      if (y0 + r < h && x0 + s < w)
        y[(y0 + r) * w + x0 + s] = activate(out[r * OUTPUTS + s] + shift, slope);
#else
  INDEX channel = get_global_id(0);
  float rows[OUTPUTS][ROW], shift = 0;
#if BIAS
  shift = bias[bias_at + channel];
#endif
  m += m_at + channel * tiles;
  y += y_at + channel * h * w;
  for (INDEX first = 0; first < tiles; first += tiles_w, ++row0) {
    for (int column = 0; column < tiles_w; column += LANES) {
      int start = min(column, tiles_w - LANES);
      VEC out[OUTPUTS * OUTPUTS];
      transform(m + first + start, element_stride, OUTPUTS, out);
#pragma unroll
      for (int r = 0; r < OUTPUTS; ++r) unsort(out + r * OUTPUTS, rows[r] + start * OUTPUTS);
    }
    int y0 = row0 % tiles_h * OUTPUTS;
    __global float* to = y + row0 / tiles_h * image_stride + y0 * w;
    for (int r = 0; r < min(OUTPUTS, h - y0); ++r, to += w)
      for (int i = 0; i < w; ++i) to[i] = activate(rows[r][i] + shift, slope);
  }
#endif
}

// filter[outputs][inputs] = transformed m[element][outputs][inputs] + beta * filter.
WIDE __kernel void winograd_gradient(INDEX total, int inputs, INDEX element_stride, float beta,
                                     __global const float* restrict m, ulong m_at,
                                     __global float* restrict filter, ulong filter_at) {
  INDEX item = get_global_id(0);
#if LANES == 1
  if (item >= total) return;
  int out = item / inputs, first = item % inputs;
#else
  int out = item, first = 0;
#endif
  m += m_at + (INDEX)out * inputs;
  filter += filter_at + (INDEX)out * inputs * FILTER;
  for (int in = first; in < (LANES == 1 ? first + 1 : inputs); in += LANES) {
    int start = LANES == 1 ? in : min(in, inputs - LANES);
    VEC sums[FILTER];
    transform(m + start, element_stride, TAPS, sums);
    const float* lanes = (const float*)sums;
    for (int lane = in - start; lane < LANES; ++lane)
      for (int t = 0; t < FILTER; ++t) {
        __global float* to = filter + (start + lane) * FILTER + t;
        float old = beta == 0 ? 0.0f : beta * *to;
        *to = old + lanes[t * LANES + lane];
      }
  }
}
