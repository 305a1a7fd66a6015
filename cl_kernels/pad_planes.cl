// SPDX-License-Identifier: MIT
// Planes copied with zeros around them, to rows of WP elements and planes of PS.
// to[planes][PS] from from[planes][h][w], one work-item a plane.
__kernel void pad_planes(INDEX planes, int h, int w, int pad_h, int pad_w,
                         __global const float* restrict from, ulong from_at,
                         __global float* restrict to, ulong to_at) {
  INDEX plane = get_global_id(0);
  if (plane >= planes) return;
  from += from_at + plane * h * w;
  to += to_at + plane * PS;
  for (int y = -pad_h; y < PS / WP - pad_h; ++y, to += WP) {
    bool inside = y >= 0 && y < h;
    for (int x = 0; x < (inside ? pad_w : WP); ++x) to[x] = 0;
    if (!inside) continue;
    for (int x = 0; x < w; ++x) to[pad_w + x] = from[y * w + x];
    for (int x = pad_w + w; x < WP; ++x) to[x] = 0;
  }
}
