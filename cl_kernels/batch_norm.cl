// SPDX-License-Identifier: MIT
// Batch normalization over [n, c, inner] on CPUs. A work-item takes a channel, or a plane of an
// image, in vector lanes. batch_norm_group.cl is the variant for GPUs.
inline float total_of(float16 v) {
  float8 a = v.lo + v.hi;
  float4 b = a.lo + a.hi;
  return (b.s0 + b.s2) + (b.s1 + b.s3);
}

// Sums over a channel's row in each image, added image by image.
#define ROW_SUM(value, lanes)                           \
  float16 sums = 0;                                     \
  INDEX i = 0;                                          \
  for (; i + 16 <= inner; i += 16) sums += lanes(i);    \
  float sum = total_of(sums);                           \
  for (; i < inner; ++i) sum += value(i);               \
  return sum;
#define LANES(x, i) vload16(0, (x) + (i))

inline float row_distance(__global const float* x, INDEX inner, float from) {
#define DISTANCE(i) (x[i] - from)
#define DISTANCES(i) (LANES(x, i) - from)
  ROW_SUM(DISTANCE, DISTANCES)
}

inline float row_squares(__global const float* x, INDEX inner, float from) {
#define SQUARE(i) ((x[i] - from) * (x[i] - from))
#define SQUARES(i) ((LANES(x, i) - from) * (LANES(x, i) - from))
  ROW_SUM(SQUARE, SQUARES)
}

inline float row_products(__global const float* x, __global const float* dy, INDEX inner,
                          float mean) {
#define PRODUCT(i) (dy[i] * (x[i] - mean))
#define PRODUCTS(i) (LANES(dy, i) * (LANES(x, i) - mean))
  ROW_SUM(PRODUCT, PRODUCTS)
}

// Computes the mean from the differences to the channel's first value, and the variance from the
// mean.
__kernel void statistics(INDEX n, INDEX c, INDEX inner, float eps, float momentum,
                         __global const float* x, ulong x_at, __global float* running_mean,
                         ulong running_mean_at, __global float* running_var, ulong running_var_at,
                         __global float* mean_out, ulong mean_at, __global float* inv_std,
                         ulong inv_std_at) {
  INDEX channel = get_global_id(0);
  if (channel >= c) return;
  x += x_at + channel * inner;
  float count = (float)n * (float)inner, sum = 0, squares = 0, first = x[0];
  for (INDEX image = 0; image < n; ++image) sum += row_distance(x + image * c * inner, inner, first);
  float offset = sum / count, mean = first + offset;
  for (INDEX image = 0; image < n; ++image) squares += row_squares(x + image * c * inner, inner, mean);
  float variance = squares / count;
  mean_out[mean_at + channel] = mean;
  inv_std[inv_std_at + channel] = 1.0f / sqrt(variance + eps);
  __global float* rm = running_mean + running_mean_at + channel;
  __global float* rv = running_var + running_var_at + channel;
  float unbiased = count > 1 ? variance * (count / (count - 1)) : variance;
  *rm = (1 - momentum) * *rm + momentum * mean;
  *rv = (1 - momentum) * *rv + momentum * unbiased;
}

// Loops over the elements of a plane.
#define FOR_EACH(total, inner, value, lanes)                               \
  INDEX i = get_global_id(0) * inner, end = i + inner;                     \
  if (i >= total) return;                                                  \
  for (; i + 16 <= end; i += 16) vstore16(lanes(i), 0, &TO(i));            \
  for (; i < end; ++i) TO(i) = value(i);
#define PLANE get_global_id(0)

// With INFER, `spread` is the variance; otherwise it is the inverse standard deviation. A NaN
// compares as not below `low`, so it stays.
__kernel void normalize_elements(INDEX total, INDEX c, INDEX inner, float eps, float low,
                        __global const float* x, ulong x_at, __global const float* gamma,
                        ulong gamma_at,
                        __global const float* beta, ulong beta_at, __global const float* mean,
                        ulong mean_at, __global const float* spread, ulong spread_at,
                        __global float* y, ulong y_at) {
  INDEX channel = PLANE % c;
  float s = spread[spread_at + channel], m = mean[mean_at + channel];
#if INFER
  s = 1.0f / sqrt(s + eps);
#endif
  float g = gamma[gamma_at + channel], shift = beta[beta_at + channel];
  x += x_at;
  y += y_at;
#define TO(i) y[i]
#define ABOVE(value) ((value) < low ? low : (value))
#define ABOVE_LANES(value) ((value) < (float16)low ? (float16)low : (value))
#define NORMALIZED(i) ABOVE((x[i] - m) * s * g + shift)
#define NORMALIZED_LANES(i) ABOVE_LANES((LANES(x, i) - m) * s * g + shift)
  FOR_EACH(total, inner, NORMALIZED, NORMALIZED_LANES)
#undef TO
}

// Adds to dgamma and dbeta. sums[0..c) = sum of dy, sums[c..2c) = sum of dy * normalized x.
__kernel void gradients(INDEX n, INDEX c, INDEX inner, __global const float* x, ulong x_at,
                        __global const float* dy, ulong dy_at, __global const float* mean,
                        ulong mean_at, __global const float* inv_std, ulong inv_std_at,
                        __global float* sums, ulong sums_at, __global float* dgamma,
                        ulong dgamma_at, __global float* dbeta, ulong dbeta_at) {
  INDEX channel = get_global_id(0);
  if (channel >= c) return;
  x += x_at + channel * inner;
  dy += dy_at + channel * inner;
  float m = mean[mean_at + channel], sum = 0, product = 0;
  for (INDEX image = 0; image < n; ++image) {
    sum += row_distance(dy + image * c * inner, inner, 0);
    product += row_products(x + image * c * inner, dy + image * c * inner, inner, m);
  }
  product *= inv_std[inv_std_at + channel];
  sums[sums_at + channel] = sum;
  sums[sums_at + c + channel] = product;
  dbeta[dbeta_at + channel] += sum;
  dgamma[dgamma_at + channel] += product;
}

__kernel void backward(INDEX total, INDEX c, INDEX inner, float count, __global const float* x,
                       ulong x_at, __global const float* dy, ulong dy_at,
                       __global const float* gamma, ulong gamma_at, __global const float* mean,
                       ulong mean_at, __global const float* inv_std, ulong inv_std_at,
                       __global const float* sums, ulong sums_at, __global float* dx,
                       ulong dx_at) {
  INDEX channel = PLANE % c;
  float s = inv_std[inv_std_at + channel], m = mean[mean_at + channel];
  float sum = sums[sums_at + channel] / count, product = sums[sums_at + c + channel] / count;
  float g = gamma[gamma_at + channel] * s;
  x += x_at;
  dy += dy_at;
  dx += dx_at;
#define TO(i) dx[i]
#define GRADIENT(i) (g * (dy[i] - sum - (x[i] - m) * s * product))
#define GRADIENT_LANES(i) (g * (LANES(dy, i) - sum - (LANES(x, i) - m) * s * product))
  FOR_EACH(total, inner, GRADIENT, GRADIENT_LANES)
#undef TO
}
