// SPDX-License-Identifier: MIT
// Local response normalization over [n, c, inner]: y = x * s^-beta. s is k + alpha/SIZE * sum of
// squares of the SIZE neighboring channels. One work-item per element.
inline float scale_at(__global const float* x, INDEX channel, INDEX c, INDEX inner, float alpha,
                      float k) {
  float sum = 0;
  for (INDEX i = max(channel - SIZE / 2, (INDEX)0); i <= min(channel + (SIZE - 1) / 2, c - 1); ++i)
    sum += x[i * inner] * x[i * inner];
  return k + alpha / SIZE * sum;
}

__kernel void lrn_forward(INDEX total, INDEX c, INDEX inner, float alpha, float beta, float k,
                          __global const float* x, ulong x_at, __global float* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX channel = i / inner % c;
  x += x_at + i - channel * inner;
  y[y_at + i] = x[channel * inner] * pow(scale_at(x, channel, c, inner, alpha, k), -beta);
}

// ratio = dy * y / s
__kernel void lrn_ratio(INDEX total, INDEX c, INDEX inner, float alpha, float k,
                        __global const float* x, ulong x_at, __global const float* y, ulong y_at,
                        __global const float* dy, ulong dy_at, __global float* ratio,
                        ulong ratio_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX channel = i / inner % c;
  x += x_at + i - channel * inner;
  ratio[ratio_at + i] = dy[dy_at + i] * y[y_at + i] / scale_at(x, channel, c, inner, alpha, k);
}

// The windows that contain a channel are the mirror image of its own window.
__kernel void lrn_backward(INDEX total, INDEX c, INDEX inner, float alpha, float beta, float k,
                           __global const float* x, ulong x_at, __global const float* dy,
                           ulong dy_at, __global const float* ratio, ulong ratio_at,
                           __global float* dx, ulong dx_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  INDEX channel = i / inner % c;
  x += x_at + i - channel * inner;
  ratio += ratio_at + i - channel * inner;
  float sum = 0;
  for (INDEX j = max(channel - (SIZE - 1) / 2, (INDEX)0); j <= min(channel + SIZE / 2, c - 1); ++j)
    sum += ratio[j * inner];
  float s = scale_at(x, channel, c, inner, alpha, k);
  dx[dx_at + i] = dy[dy_at + i] * pow(s, -beta) - 2 * alpha * beta / SIZE * x[channel * inner] * sum;
}
