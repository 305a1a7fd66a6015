// SPDX-License-Identifier: MIT
// Copies planes of H rows of W elements to planes of PS elements with rows of WP. PAD_H rows and
// PAD_W columns of zeros come before them, and zeros after them. One work-item per plane.
__kernel void pad_planes(INDEX planes, __global const float* restrict from, ulong from_at,
                         __global float* restrict to, ulong to_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  from += from_at + plane * (H * W);
  to += to_at + plane * PS;
  for (int i = 0; i < PAD_H * WP + PAD_W; ++i) to[i] = 0;
  to += PAD_H * WP + PAD_W;
  int left = PS - PAD_H * WP - PAD_W;  // elements left in the plane; the last row may end with it
  for (int y = 0; y < H; ++y) {
    int row = min(left, WP);
    for (int x = 0; x < W; ++x) to[x] = from[x];
    for (int x = W; x < row; ++x) to[x] = 0;
    from += W;
    to += WP;
    left -= WP;
  }
  for (int i = 0; i < left; ++i) to[i] = 0;
}
