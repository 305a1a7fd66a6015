// SPDX-License-Identifier: MIT
// im2col and col2im of conv_im2col.cl for CPUs: whole rows, in loops that compilers vectorize.
// HALVED: at least w / STRIDE_W + 1.

inline int floor_of(int n, int by) { return n >= 0 ? n / by : -((by - 1 - n) / by); }

// Work-item: row global_id(0) of the matrix.
WIDE __kernel void im2col_rows(int row0, int rows, int c, int h, int w, int out_w,
                               INDEX image_stride, __global const float* restrict x, ulong x_at,
                               __global float* restrict columns, ulong columns_at) {
  INDEX line = get_global_id(0);
  int s = line % S, r = line / S % R, channel = line / S / R % c;
  INDEX image = line / S / R / c;
  int left = s * DILATION_W - PAD_W;
  int begin = clamp(-floor_of(left, STRIDE_W), 0, out_w);
  int end = clamp(floor_of(w - 1 - left, STRIDE_W) + 1, begin, out_w);
  x += x_at + image * image_stride + (INDEX)channel * h * w;
  columns += columns_at + line * rows * out_w;
  for (int i = row0; i < row0 + rows; ++i, columns += out_w) {
    int y = i * STRIDE_H - PAD_H + r * DILATION_H;
    bool inside = y >= 0 && y < h;
    for (int j = 0; j < (inside ? begin : out_w); ++j) columns[j] = 0;
    if (!inside) continue;
    __global const float* from = x + y * w + left;
    for (int j = begin; j < end; ++j) columns[j] = from[j * STRIDE_W];
    for (int j = end; j < out_w; ++j) columns[j] = 0;
  }
}

// Work-item: plane global_id(0) of x. A row is summed in parts, one for each column % STRIDE_W.
WIDE __kernel void col2im_rows(int row0, int rows, int c, int h, int w, int out_w,
                               INDEX image_stride, __global const float* restrict columns,
                               ulong columns_at, __global float* restrict x, ulong x_at) {
  INDEX plane = get_global_id(0);
  columns += columns_at + plane * R * S * rows * out_w;
  x += x_at + plane / c * image_stride + plane % c * h * w;
  int last_row = min(h, (row0 + rows - 1) * STRIDE_H + (R - 1) * DILATION_H - PAD_H + 1);
  for (int y = row0 == 0 ? 0 : max(0, row0 * STRIDE_H - PAD_H); y < (row0 == 0 ? h : last_row); ++y) {
    float sums[STRIDE_W][HALVED];
    for (int part = 0; part < STRIDE_W; ++part)
      for (int j = 0; j * STRIDE_W + part < w; ++j)
        sums[part][j] = row0 == 0 ? 0.0f : x[y * w + j * STRIDE_W + part];
    for (int r = 0; r < R; ++r) {
      int up = y + PAD_H - r * DILATION_H, i = up / STRIDE_H - row0;
      if (up < 0 || up % STRIDE_H != 0 || i < 0 || i >= rows) continue;
      for (int s = 0; s < S; ++s) {
        int left = s * DILATION_W - PAD_W, shift = floor_of(left, STRIDE_W);
        int part = left - shift * STRIDE_W;
        int end = min(out_w, floor_of(w - 1 - left, STRIDE_W) + 1);
        __global const float* from = columns + ((INDEX)(r * S + s) * rows + i) * out_w;
        for (int j = max(0, -shift); j < end; ++j) sums[part][j + shift] += from[j];
      }
    }
    for (int part = 0; part < STRIDE_W; ++part)
      for (int j = 0; j * STRIDE_W + part < w; ++j) x[y * w + j * STRIDE_W + part] = sums[part][j];
  }
}
