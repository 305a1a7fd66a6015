// SPDX-License-Identifier: MIT
// Transforms the factors of Winograd's convolution F(OUTPUTS x OUTPUTS, TAPS x TAPS). The factors
// are tiles of 6 x 6 or 4 x 4 of planes, and filters. Element e of all tiles is at e *
// element_stride. The points are 0, 1, -1 and infinity; tiles of 6 also have 2 and -2. LANES 1, for
// GPUs: a work-item has one tile or filter. LANES 2 to 16, for CPUs: as many side by side. GRADIENT
// 1: planes are gradients in tiles of OUTPUTS x OUTPUTS, in place of the filter. TURNED 1: filters
// are reversed and [inputs][outputs]. ROW: at least the number of pixels that a row of tiles reads.
#define TILE (OUTPUTS + TAPS - 1)
#define PATCH (GRADIENT ? OUTPUTS : TILE)
#define FILTER (TAPS * TAPS)

// B^T.
inline void spread_input(const VEC* x, VEC* y) {
#if TILE == 4
  y[0] = x[0] - x[2];
  y[1] = x[2] + x[1];
  y[2] = x[2] - x[1];
  y[3] = x[3] - x[1];
#else
  VEC even = x[4] - 4.0f * x[2], odd = x[3] - 4.0f * x[1];
  VEC near = x[4] - x[2], twice = 2.0f * (x[3] - x[1]);
  y[0] = 4.0f * x[0] - 5.0f * x[2] + x[4];
  y[1] = even + odd;
  y[2] = even - odd;
  y[3] = near + twice;
  y[4] = near - twice;
  y[5] = 4.0f * x[1] - 5.0f * x[3] + x[5];
#endif
}

// G: a polynomial of `count` terms at the points, divided by the factors that B^T leaves out.
inline void spread_terms(const VEC* g, int count, VEC* y) {
  VEC near[2] = {g[0], 0}, far[2] = {g[0], 0};
#pragma unroll
  for (int i = 1; i < count; ++i) {
    near[i % 2] += g[i];
    far[i % 2] += (float)(1 << i) * g[i];
  }
#if TILE == 4
  y[0] = g[0];
  y[1] = (near[0] + near[1]) * 0.5f;
  y[2] = (near[0] - near[1]) * 0.5f;
#else
  y[0] = 0.25f * g[0];
  y[1] = (near[0] + near[1]) * (-1.0f / 6);
  y[2] = (near[0] - near[1]) * (-1.0f / 6);
  y[3] = (far[0] + far[1]) * (1.0f / 24);
  y[4] = (far[0] - far[1]) * (1.0f / 24);
#endif
  y[TILE - 1] = g[count - 1];
}

inline void spread_plane(const VEC* x, VEC* y) {
#if GRADIENT
  spread_terms(x, OUTPUTS, y);
#else
  spread_input(x, y);
#endif
}

inline void put(VEC value, __global float* to) {
#if LANES == 1
  *to = value;
#else
  STORE(value, 0, to);
#endif
}

// Transforms a tile. Its row r and column s are d[r][s].
inline void transform(VEC d[PATCH][PATCH], __global float* to, INDEX element_stride) {
  VEC mixed[PATCH][TILE];
#pragma unroll
  for (int s = 0; s < PATCH; ++s) {
    VEC column[PATCH];
#pragma unroll
    for (int r = 0; r < PATCH; ++r) column[r] = d[r][s];
    spread_plane(column, mixed[s]);
  }
#pragma unroll
  for (int r = 0; r < TILE; ++r) {
    VEC row[PATCH], out[TILE];
#pragma unroll
    for (int s = 0; s < PATCH; ++s) row[s] = mixed[s][r];
    spread_plane(row, out);
#pragma unroll
    for (int s = 0; s < TILE; ++s) put(out[s], to + (r * TILE + s) * element_stride);
  }
}

#if LANES > 1
// phases[i] receives row[OUTPUTS * lane + i].
inline void sort(const float* row, VEC* phases) {
  VEC a = LOAD(0, row), b = LOAD(1, row);
  VEC even = (VEC)(a.even, b.even), odd = (VEC)(a.odd, b.odd);
#if OUTPUTS == 2
  phases[0] = even;
  phases[1] = odd;
#else
  VEC c = LOAD(2, row), d = LOAD(3, row);
  VEC more_even = (VEC)(c.even, d.even), more_odd = (VEC)(c.odd, d.odd);
  phases[0] = (VEC)(even.even, more_even.even);
  phases[1] = (VEC)(odd.even, more_odd.even);
  phases[2] = (VEC)(even.odd, more_even.odd);
  phases[3] = (VEC)(odd.odd, more_odd.odd);
#endif
}
#endif

// Transforms rows of tiles from row0 on, of all images: v[element][channels][tiles]. `left` is not
// negative. LANES 1: tile global_id(0) of channel global_id(1). Otherwise all tiles of channel
// global_id(0).
WIDE __kernel void winograd_input(INDEX tiles, int row0, int tiles_h, int tiles_w, int h, int w,
                                  int top, int left, INDEX image_stride, INDEX element_stride,
                                  __global const float* restrict x, ulong x_at,
                                  __global float* restrict v, ulong v_at) {
#if LANES == 1
  INDEX tile = get_global_id(0), channel = get_global_id(1);
  if (tile >= tiles) return;
  int row = row0 + tile / tiles_w;
  int y0 = row % tiles_h * OUTPUTS - top, x0 = tile % tiles_w * OUTPUTS - left;
  x += x_at + row / tiles_h * image_stride + channel * h * w;
  VEC d[PATCH][PATCH];
#pragma unroll
  for (int r = 0; r < PATCH; ++r)
#pragma unroll
    for (int s = 0; s < PATCH; ++s) {
      bool inside = y0 + r >= 0 && y0 + r < h && x0 + s >= 0 && x0 + s < w;
      d[r][s] = inside ? x[(y0 + r) * w + x0 + s] : 0.0f;
    }
  transform(d, v + v_at + channel * tiles + tile, element_stride);
#else
  INDEX channel = get_global_id(0);
  int needed = OUTPUTS * tiles_w + TILE, count = min(w, needed - left);
  float rows[PATCH][ROW];
  x += x_at + channel * h * w;
  v += v_at + channel * tiles;
  for (INDEX first = 0; first < tiles; first += tiles_w, ++row0) {
    int y0 = row0 % tiles_h * OUTPUTS - top;
    __global const float* image = x + row0 / tiles_h * image_stride;
    for (int r = 0; r < PATCH; ++r) {
      bool inside = y0 + r >= 0 && y0 + r < h;
      __global const float* from = image + (y0 + r) * w;
      for (int i = 0; i < (inside ? left : needed); ++i) rows[r][i] = 0;
      if (!inside) continue;
      for (int i = 0; i < count; ++i) rows[r][left + i] = from[i];
      for (int i = left + count; i < needed; ++i) rows[r][i] = 0;
    }
    for (int column = 0; column < tiles_w; column += LANES) {
      int start = min(column, tiles_w - LANES);
      VEC d[PATCH][PATCH];
#pragma unroll
      for (int r = 0; r < PATCH; ++r)
#pragma unroll
        for (int s = 0; s < PATCH; s += OUTPUTS) {
          VEC phases[OUTPUTS];
          sort(rows[r] + start * OUTPUTS + s, phases);
#pragma unroll
          for (int i = 0; i < OUTPUTS && s + i < PATCH; ++i) d[r][s + i] = phases[i];
        }
      transform(d, v + first + start, element_stride);
    }
  }
#endif
}

// u[element][outputs][inputs]. LANES 1: filter global_id(0). Otherwise all filters of output
// global_id(0).
WIDE __kernel void winograd_filter(INDEX total, int outputs, int inputs, INDEX element_stride,
                                   __global const float* restrict filter, ulong filter_at,
                                   __global float* restrict u, ulong u_at) {
  INDEX item = get_global_id(0);
#if LANES == 1
  if (item >= total) return;
  int out = item / inputs, first = item % inputs;
#else
  int out = item, first = 0;
#endif
  filter += filter_at;
  u += u_at + (INDEX)out * inputs;
  for (int in = first; in < (LANES == 1 ? first + 1 : inputs); in += LANES) {
    int start = LANES == 1 ? in : min(in, inputs - LANES);
    VEC taps[FILTER];
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) {
#if TURNED
      __global const float* from = filter + ((INDEX)(start + lane) * outputs + out) * FILTER;
#else
      __global const float* from = filter + ((INDEX)out * inputs + start + lane) * FILTER;
#endif
#pragma unroll
      for (int t = 0; t < FILTER; ++t)
        ((float*)(taps + (TURNED ? FILTER - 1 - t : t)))[lane] = from[t];
    }
    VEC mixed[TAPS][TILE];
#pragma unroll
    for (int s = 0; s < TAPS; ++s) {
      VEC column[TAPS];
#pragma unroll
      for (int r = 0; r < TAPS; ++r) column[r] = taps[r * TAPS + s];
      spread_terms(column, TAPS, mixed[s]);
    }
#pragma unroll
    for (int r = 0; r < TILE; ++r) {
      VEC row[TAPS], values[TILE];
#pragma unroll
      for (int s = 0; s < TAPS; ++s) row[s] = mixed[s][r];
      spread_terms(row, TAPS, values);
#pragma unroll
      for (int s = 0; s < TILE; ++s) put(values[s], u + start + (r * TILE + s) * element_stride);
    }
  }
}
