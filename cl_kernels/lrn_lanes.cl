// SPDX-License-Identifier: MIT
// Local response normalization of lrn.cl for CPUs. Work-item: 16 elements of image global_id(1)
// from 16 * global_id(0) on, in all channels.

// Elements past `count` are 0.
inline float16 load(__global const float* from, int count) {
  if (count >= 16) return vload16(0, from);
  float lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = i < count ? from[i] : 0.0f;
  return vload16(0, lanes);
}

inline void store(float16 value, __global float* to, int count) {
  if (count >= 16) {
    vstore16(value, 0, to);
    return;
  }
  float lanes[16];
  vstore16(value, 0, lanes);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
}

inline float16 scale_at(__global const float* x, INDEX channel, INDEX c, INDEX inner, int count,
                        float alpha, float k) {
  float16 sum = 0;
  INDEX last = min(channel + (SIZE - 1) / 2, c - 1);
  for (INDEX i = max(channel - SIZE / 2, (INDEX)0); i <= last; ++i) {
    float16 v = load(x + i * inner, count);
    sum += v * v;
  }
  return k + alpha / SIZE * sum;
}

// s^-beta; s is positive.
inline float16 power(float16 s, float beta) { return exp(-beta * log(s)); }

WIDE __kernel void lrn_forward_lanes(INDEX c, INDEX inner, float alpha, float beta, float k,
                                     __global const float* restrict x, ulong x_at,
                                     __global float* restrict y, ulong y_at) {
  INDEX first = (INDEX)get_global_id(0) * 16, at = (INDEX)get_global_id(1) * c * inner + first;
  int count = min((INDEX)16, inner - first);
  x += x_at + at;
  y += y_at + at;
  for (INDEX i = 0; i < c; ++i) {
    float16 s = scale_at(x, i, c, inner, count, alpha, k);
    store(load(x + i * inner, count) * power(s, beta), y + i * inner, count);
  }
}

// Stores ratio = dy * y / s. The windows that contain a channel are the mirror image of its own
// window.
WIDE __kernel void lrn_backward_lanes(INDEX c, INDEX inner, float alpha, float beta, float k,
                                      __global const float* restrict x, ulong x_at,
                                      __global const float* restrict y, ulong y_at,
                                      __global const float* restrict dy, ulong dy_at,
                                      __global float* restrict ratio, ulong ratio_at,
                                      __global float* restrict dx, ulong dx_at) {
  INDEX first = (INDEX)get_global_id(0) * 16, at = (INDEX)get_global_id(1) * c * inner + first;
  int count = min((INDEX)16, inner - first);
  x += x_at + at;
  y += y_at + at;
  dy += dy_at + at;
  ratio += ratio_at + at;
  dx += dx_at + at;
  for (INDEX i = 0; i < c; ++i) {
    float16 s = scale_at(x, i, c, inner, count, alpha, k);
    float16 gradient = load(dy + i * inner, count);
    store(gradient * load(y + i * inner, count) / s, ratio + i * inner, count);
    store(gradient * power(s, beta), dx + i * inner, count);
  }
  for (INDEX i = 0; i < c; ++i) {
    float16 sum = 0;
    INDEX last = min(i + SIZE / 2, c - 1);
    for (INDEX j = max(i - (SIZE - 1) / 2, (INDEX)0); j <= last; ++j)
      sum += load(ratio + j * inner, count);
    float16 value = load(dx + i * inner, count);
    value -= 2 * alpha * beta / SIZE * load(x + i * inner, count) * sum;
    store(value, dx + i * inner, count);
  }
}
