// SPDX-License-Identifier: MIT
// im2col and col2im for GPUs. columns[images][c * R * S][rows * out_w] holds the output rows from
// row0 on, taken from x[images][c][h][w]. `c` counts the channels of one group. Images
// are `image_stride` apart. Defines: R, S, STRIDE_H/W, PAD_H/W, DILATION_H/W.
__kernel void im2col(INDEX pixels, int row0, int c, int h, int w, int out_w, INDEX image_stride,
                     __global const float* x, ulong x_at, __global float* columns,
                     ulong columns_at) {
  INDEX pixel = get_global_id(0), line = get_global_id(1);
  if (pixel >= pixels) return;
  int s = line % S, r = line / S % R, channel = line / S / R % c;
  INDEX image = line / S / R / c;
  int row = (row0 + (int)(pixel / out_w)) * STRIDE_H - PAD_H + r * DILATION_H;
  int column = (int)(pixel % out_w) * STRIDE_W - PAD_W + s * DILATION_W;
  bool inside = row >= 0 && row < h && column >= 0 && column < w;
  columns[columns_at + line * pixels + pixel] =
      inside ? x[x_at + image * image_stride + ((INDEX)channel * h + row) * w + column] : 0.0f;
}

// Each element of x sums its columns in a fixed order. If row0 is 0, it starts from zero; otherwise
// it adds to x.
__kernel void col2im(INDEX total, int row0, int rows, int c, int h, int w, int out_w,
                     INDEX image_stride, __global const float* columns, ulong columns_at,
                     __global float* x, ulong x_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int column = i % w, row = i / w % h, channel = i / w / h % c;
  INDEX image = i / w / h / c, pixels = (INDEX)rows * out_w;
  columns += columns_at + (image * c + channel) * R * S * pixels;
  x += x_at + image * image_stride + ((INDEX)channel * h + row) * w + column;
  float sum = row0 == 0 ? 0.0f : *x;
  for (int r = 0; r < R; ++r) {
    int y = row + PAD_H - r * DILATION_H, out = y / STRIDE_H - row0;
    if (y < 0 || y % STRIDE_H != 0 || out < 0 || out >= rows) continue;
    for (int s = 0; s < S; ++s) {
      int z = column + PAD_W - s * DILATION_W;
      if (z < 0 || z % STRIDE_W != 0 || z / STRIDE_W >= out_w) continue;
      sum += columns[(r * S + s) * pixels + (INDEX)out * out_w + z / STRIDE_W];
    }
  }
  *x = sum;
}
