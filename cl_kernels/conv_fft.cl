// SPDX-License-Identifier: MIT
// Convolution by Fourier transforms of tiles of SIZE x SIZE, 16 or 32. Transforms rows, then
// columns f = 0..SIZE/2 in place, and products back. Element f * SIZE + i, of row or frequency i,
// is at (f * SIZE + i) * element_stride. Within it, channels are channel_stride apart. Imaginary
// parts are `imaginary` after the real parts. LANES 1, for GPUs: a work-item has a line of one tile
// or filter, global_id(0), of line and channel global_id(1). LANES 4 or 16, for CPUs: a work-item
// has all tiles of line and channel global_id(0), LANES at a time.
#define COLUMNS (SIZE / 2 + 1)
#if LANES == 1
#define LANE(v, i) (v)
#define LINE get_global_id(1)
#define EACH(first, total) INDEX first = get_global_id(0); if (first < total)
#else
#define LANE(v, i) (((float*)&(v))[i])
#define LINE get_global_id(0)
#define EACH(first, total) for (INDEX first = 0; first < total; first += LANES)
#endif

// cos(2 pi k / 32). The entry 8 places later is -sin.
__constant float kCosine[24] = {
    1.0f,  0.98078528f,  0.92387953f,  0.83146961f,  0.70710678f,  0.55557023f,  0.38268343f,  0.19509032f,
    0.0f,  -0.19509032f, -0.38268343f, -0.55557023f, -0.70710678f, -0.83146961f, -0.92387953f, -0.98078528f,
    -1.0f, -0.98078528f, -0.92387953f, -0.83146961f, -0.70710678f, -0.55557023f, -0.38268343f, -0.19509032f};

// The position of frequency k after a transform: its bits reversed.
inline int place(int k) {
  int turned = (k & 1) << 4 | (k & 2) << 2 | (k & 4) | (k & 8) >> 2 | (k & 16) >> 4;
  return SIZE == 32 ? turned : turned >> 1;
}

// Cooley and Tukey, radix 2. With re and im exchanged, it is the inverse times SIZE.
inline void transform(VEC* re, VEC* im) {
#pragma unroll
  for (int step = 1; step < SIZE; step *= 2)
#pragma unroll
    for (int i = 0; i < SIZE / 2; ++i) {
      int apart = SIZE / 2 / step, j = i % apart, a = 2 * i - j, b = a + apart;
      int turn = j * step * (32 / SIZE);
      float c = kCosine[turn], s = kCosine[turn + 8];
      VEC r = re[a] - re[b], m = im[a] - im[b];
      re[a] += re[b];
      im[a] += im[b];
      re[b] = r * c - m * s;
      im[b] = r * s + m * c;
    }
}

inline VEC get(__global const float* from, INDEX count) {
#if LANES == 1
  return *from;
#else
  if (count >= LANES) return JOINED(vload, LANES)(0, from);
  VEC v = 0;
  for (int lane = 0; lane < count; ++lane) LANE(v, lane) = from[lane];
  return v;
#endif
}

inline void put(VEC v, INDEX count, __global float* to) {
#if LANES == 1
  *to = v;
#else
  if (count >= LANES)
    JOINED(vstore, LANES)(v, 0, to);
  else
    for (int lane = 0; lane < count; ++lane) to[lane] = LANE(v, lane);
#endif
}

// Transforms two real rows, given as real and imaginary parts. Writes from `to` on.
inline void spread_rows(VEC* re, VEC* im, INDEX count, INDEX element_stride, INDEX imaginary,
                        __global float* to) {
  transform(re, im);
#pragma unroll
  for (int f = 0; f < COLUMNS; ++f, to += SIZE * element_stride) {
    int a = place(f), b = place((SIZE - f) % SIZE);
    put(0.5f * (re[a] + re[b]), count, to);
    put(0.5f * (im[a] - im[b]), count, to + imaginary);
    put(0.5f * (im[a] + im[b]), count, to + element_stride);
    put(0.5f * (re[b] - re[a]), count, to + element_stride + imaginary);
  }
}

// The inverse, times SIZE. Column j of the first row is re[place(j)], of the second im[place(j)].
inline void gather_rows(__global const float* from, INDEX count, INDEX element_stride,
                        INDEX imaginary, VEC* re, VEC* im) {
#pragma unroll
  for (int f = 0; f < COLUMNS; ++f, from += SIZE * element_stride) {
    VEC ar = get(from, count), ai = get(from + imaginary, count);
    VEC br = get(from + element_stride, count);
    VEC bi = get(from + element_stride + imaginary, count);
    re[(SIZE - f) % SIZE] = ar + bi;
    im[(SIZE - f) % SIZE] = br - ai;
    re[f] = ar - bi;
    im[f] = ai + br;
  }
  transform(im, re);
}

// Transforms rows 0..rows-1 of the tiles from tile0 on, `columns` wide, in planes [h][w]. Tiles are
// step_h and step_w apart. The first starts `top` and `left` before the plane.
WIDE __kernel void fft_tiles(INDEX tiles, INDEX tile0, int tiles_h, int tiles_w, int step_h, int step_w, int rows,
                             int columns, int h, int w, int top, int left, INDEX image_stride,
                             INDEX element_stride, INDEX channel_stride, INDEX imaginary,
                             __global const float* restrict x, ulong x_at, __global float* restrict v, ulong v_at) {
  INDEX line = LINE, pairs = (rows + 1) / 2, channel = line / pairs;
  int row = line % pairs * 2;
  x += x_at + channel * h * w;
  v += v_at + channel * channel_stride + row * element_stride;
  EACH(first, tiles) {
    VEC re[SIZE], im[SIZE];
#pragma unroll
    for (int j = 0; j < SIZE; ++j) re[j] = im[j] = 0;
    for (int lane = 0; lane < min((INDEX)LANES, tiles - first); ++lane) {
      INDEX tile = tile0 + first + lane;
      int y = tile / tiles_w % tiles_h * step_h - top + row, at = tile % tiles_w * step_w - left;
      __global const float* from = x + tile / tiles_w / tiles_h * image_stride;
      bool has_first = y >= 0 && y < h, has_second = row + 1 < rows && y + 1 >= 0 && y + 1 < h;
#pragma unroll
      for (int j = 0; j < SIZE; ++j) {
        if (j >= columns || at + j < 0 || at + j >= w) continue;
        if (has_first) LANE(re[j], lane) = from[(INDEX)y * w + at + j];
        if (has_second) LANE(im[j], lane) = from[(INDEX)(y + 1) * w + at + j];
      }
    }
    spread_rows(re, im, tiles - first, element_stride, imaginary, v + first);
  }
}

// The same for filters [outputs][inputs][rows][columns]. Turned filters are [inputs][outputs] and
// reversed.
WIDE __kernel void fft_filters(INDEX inputs, INDEX outputs, int rows, int columns, int turned, INDEX element_stride,
                               INDEX channel_stride, INDEX imaginary, __global const float* restrict filter,
                               ulong filter_at, __global float* restrict v, ulong v_at) {
  INDEX line = LINE, pairs = (rows + 1) / 2, output = line / pairs;
  int row = line % pairs * 2, step = turned ? -1 : 1;
  filter += filter_at;
  v += v_at + output * channel_stride + row * element_stride;
  EACH(first, inputs) {
    VEC re[SIZE], im[SIZE];
#pragma unroll
    for (int j = 0; j < SIZE; ++j) re[j] = im[j] = 0;
    for (int lane = 0; lane < min((INDEX)LANES, inputs - first); ++lane) {
      INDEX in = first + lane, number = turned ? in * outputs + output : output * inputs + in;
      __global const float* from = filter + number * rows * columns + row * columns * step;
      if (turned) from += rows * columns - 1;
#pragma unroll
      for (int j = 0; j < SIZE / 2; ++j) {
        if (j >= columns) continue;
        LANE(re[j], lane) = from[j * step];
        if (row + 1 < rows) LANE(im[j], lane) = from[(columns + j) * step];
      }
    }
    spread_rows(re, im, inputs - first, element_stride, imaginary, v + first);
  }
}

// Transforms columns of `rows` values; the others are 0. It is the inverse, times SIZE, if v is the
// imaginary part. With a twin, it also writes -im and re, `twin` elements further on. Complex
// products then become real products.
WIDE __kernel void fft_columns(INDEX count, int rows, INDEX element_stride, INDEX channel_stride,
                               INDEX imaginary, INDEX twin, __global float* restrict v, ulong v_at) {
  INDEX line = LINE;
  v += v_at + line / COLUMNS * channel_stride + line % COLUMNS * SIZE * element_stride;
  EACH(first, count) {
    VEC re[SIZE], im[SIZE];
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
      re[i] = im[i] = 0;
      if (i >= rows) continue;
      re[i] = get(v + first + i * element_stride, count - first);
      im[i] = get(v + first + i * element_stride + imaginary, count - first);
    }
    transform(re, im);
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
      __global float* to = v + first + i * element_stride;
      put(re[place(i)], count - first, to);
      put(im[place(i)], count - first, to + imaginary);
      if (twin == 0) continue;
      put(-im[place(i)], count - first, to + twin);
      put(re[place(i)], count - first, to + twin + imaginary);
    }
  }
}

// y = activation(tiles / SIZE^2 + bias), for products with transformed columns.
WIDE __kernel void fft_output(INDEX tiles, INDEX tile0, int tiles_h, int tiles_w, int step_h, int step_w, int h,
                              int w, INDEX image_stride, INDEX element_stride, INDEX channel_stride,
                              INDEX imaginary, float slope, __global const float* restrict v, ulong v_at,
                              __global const float* restrict bias, ulong bias_at, __global float* restrict y,
                              ulong y_at) {
  INDEX line = LINE, pairs = (step_h + 1) / 2, channel = line / pairs;
  int row = line % pairs * 2;
  v += v_at + channel * channel_stride + row * element_stride;
  y += y_at + channel * h * w;
  float shift = 0;
#if BIAS
  shift = bias[bias_at + channel];
#endif
  EACH(first, tiles) {
    VEC re[SIZE], im[SIZE];
    gather_rows(v + first, tiles - first, element_stride, imaginary, re, im);
    for (int lane = 0; lane < min((INDEX)LANES, tiles - first); ++lane) {
      INDEX tile = tile0 + first + lane;
      int top = tile / tiles_w % tiles_h * step_h + row, at = tile % tiles_w * step_w;
      __global float* to = y + tile / tiles_w / tiles_h * image_stride + (INDEX)top * w + at;
      bool has_first = top < h, has_second = row + 1 < step_h && top + 1 < h;
#pragma unroll
      for (int j = 0; j < SIZE; ++j) {
        if (j >= step_w || at + j >= w) continue;
        if (has_first) to[j] = activate(LANE(re[place(j)], lane) / (SIZE * SIZE) + shift, slope);
        if (has_second)
          to[w + j] = activate(LANE(im[place(j)], lane) / (SIZE * SIZE) + shift, slope);
      }
    }
  }
}

inline void add(float value, float beta, __global float* to) {
  *to = value / (SIZE * SIZE) + (beta == 0 ? 0.0f : beta * *to);
}

// filter[outputs][inputs][rows][columns] = products / SIZE^2 + beta * filter.
WIDE __kernel void fft_gradient(INDEX inputs, int rows, int columns, INDEX element_stride, INDEX channel_stride,
                                INDEX imaginary, float beta, __global const float* restrict v, ulong v_at,
                                __global float* restrict filter, ulong filter_at) {
  INDEX line = LINE, pairs = (rows + 1) / 2, output = line / pairs;
  int row = line % pairs * 2;
  v += v_at + output * channel_stride + row * element_stride;
  filter += filter_at + (output * inputs * rows + row) * columns;
  EACH(first, inputs) {
    VEC re[SIZE], im[SIZE];
    gather_rows(v + first, inputs - first, element_stride, imaginary, re, im);
    for (int lane = 0; lane < min((INDEX)LANES, inputs - first); ++lane) {
      __global float* to = filter + (first + lane) * rows * columns;
#pragma unroll
      for (int j = 0; j < SIZE / 2; ++j) {
        if (j >= columns) continue;
        add(LANE(re[place(j)], lane), beta, to + j);
        if (row + 1 < rows) add(LANE(im[place(j)], lane), beta, to + columns + j);
      }
    }
  }
}
