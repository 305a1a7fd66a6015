// SPDX-License-Identifier: MIT
// Batch normalization over [n, c, inner] on GPUs. A channel is read once for its sums, in parts of
// SPAN vectors. Each part is one work-group of GROUP items. LANES: 4 if `inner` consists of whole
// vectors, else 1.
#if LANES == 1
#define VECTOR(x, i) (x)[i]
#define SUM_OF(v) (v)
#define PUT(value, i, y) (y)[i] = (value)
#else
#define VECTOR(x, i) (*(__global const float4*)((x) + 4 * (i)))
#define SUM_OF(v) ((v).s0 + (v).s1 + ((v).s2 + (v).s3))
#define PUT(value, i, y) *(__global float4*)((y) + 4 * (i)) = (value)
#endif
#define EACH (SPAN / GROUP)

inline float group_sum(float value, __local float* shared) {
  int l = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  shared[l] = value;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < reach) shared[l] += shared[l + reach];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return shared[0];
}

// The place of vector `at` of a channel. `inner` counts vectors, `vectors` those of the channel.
#define PLACE(at) (((at) / inner * c + channel) * inner + (at) % inner)

// Writes the mean and the sum of squared differences to it, of each part of each channel.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void statistics_parts(
    INDEX vectors, INDEX c, INDEX inner, INDEX parts, __global const float* x, ulong x_at,
    __global float* sums, ulong sums_at) {
  __local float shared[GROUP];
  const INDEX channel = get_global_id(1), part = get_group_id(0), first = part * SPAN;
  const float count = (float)min((INDEX)SPAN, vectors - first) * LANES;
  x += x_at;
  VEC values[EACH];
  float sum = 0, squares = 0;
  const float shift = x[PLACE(first) * LANES];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const INDEX at = first + i * GROUP + get_local_id(0);
    values[i] = at < vectors ? VECTOR(x, PLACE(at)) - shift : 0;
    sum += SUM_OF(values[i]);
  }
  const float mean = group_sum(sum, shared) / count;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const VEC distance = values[i] - mean;
    if (first + i * GROUP + get_local_id(0) < vectors) squares += SUM_OF(distance * distance);
  }
  squares = group_sum(squares, shared);
  if (get_local_id(0) != 0) return;
  sums[sums_at + channel * parts + part] = shift + mean;
  sums[sums_at + (c + channel) * parts + part] = squares;
}

// Joins the parts of a channel: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm
// for computing sample variances" (1979).
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void statistics_join(
    INDEX vectors, INDEX c, INDEX inner, INDEX parts, float eps, float momentum,
    __global const float* sums, ulong sums_at, __global float* running_mean, ulong running_mean_at,
    __global float* running_var, ulong running_var_at, __global float* mean_out, ulong mean_at,
    __global float* inv_std, ulong inv_std_at) {
  __local float shared[GROUP];
  const INDEX channel = get_group_id(0);
  __global const float* means = sums + sums_at + channel * parts;
  __global const float* squares = means + c * parts;
  const float count = (float)vectors * LANES, shift = means[0];
  float offset = 0, square = 0;
  for (INDEX part = get_local_id(0); part < parts; part += GROUP) {
    const float share = (float)min((INDEX)SPAN, vectors - part * SPAN) / vectors;
    offset += share * (means[part] - shift);
  }
  const float mean = shift + group_sum(offset, shared);
  for (INDEX part = get_local_id(0); part < parts; part += GROUP) {
    const float of_part = (float)min((INDEX)SPAN, vectors - part * SPAN) * LANES;
    const float distance = means[part] - mean;
    square += squares[part] + of_part * distance * distance;
  }
  const float variance = group_sum(square, shared) / count;
  if (get_local_id(0) != 0) return;
  mean_out[mean_at + channel] = mean;
  inv_std[inv_std_at + channel] = 1.0f / sqrt(variance + eps);
  __global float* rm = running_mean + running_mean_at + channel;
  __global float* rv = running_var + running_var_at + channel;
  const float unbiased = count > 1 ? variance * (count / (count - 1)) : variance;
  *rm = (1 - momentum) * *rm + momentum * mean;
  *rv = (1 - momentum) * *rv + momentum * unbiased;
}

// Writes the sums of dy and of dy * (x - mean), of each part of each channel.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gradients_parts(
    INDEX vectors, INDEX c, INDEX inner, INDEX parts, __global const float* x, ulong x_at,
    __global const float* dy, ulong dy_at, __global const float* mean, ulong mean_at,
    __global float* sums, ulong sums_at) {
  __local float shared[GROUP];
  const INDEX channel = get_global_id(1), part = get_group_id(0), first = part * SPAN;
  const float m = mean[mean_at + channel];
  x += x_at;
  dy += dy_at;
  VEC sum = 0, product = 0;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const INDEX at = first + i * GROUP + get_local_id(0);
    if (at >= vectors) continue;
    const VEC gradient = VECTOR(dy, PLACE(at));
    sum += gradient;
    product += gradient * (VECTOR(x, PLACE(at)) - m);
  }
  const float total = group_sum(SUM_OF(sum), shared), products = group_sum(SUM_OF(product), shared);
  if (get_local_id(0) != 0) return;
  sums[sums_at + channel * parts + part] = total;
  sums[sums_at + (c + channel) * parts + part] = products;
}

// Adds to dgamma and dbeta. to[0..c) = sum of dy, to[c..2c) = sum of dy * normalized x.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gradients_join(
    INDEX vectors, INDEX c, INDEX inner, INDEX parts, __global const float* sums, ulong sums_at,
    __global const float* inv_std, ulong inv_std_at, __global float* to, ulong to_at,
    __global float* dgamma, ulong dgamma_at, __global float* dbeta, ulong dbeta_at) {
  __local float shared[GROUP];
  const INDEX channel = get_group_id(0);
  sums += sums_at + channel * parts;
  float sum = 0, product = 0;
  for (INDEX part = get_local_id(0); part < parts; part += GROUP) {
    sum += sums[part];
    product += sums[c * parts + part];
  }
  sum = group_sum(sum, shared);
  product = group_sum(product, shared) * inv_std[inv_std_at + channel];
  if (get_local_id(0) != 0) return;
  to[to_at + channel] = sum;
  to[to_at + c + channel] = product;
  dbeta[dbeta_at + channel] += sum;
  dgamma[dgamma_at + channel] += product;
}

// With INFER, `spread` is the variance; otherwise it is the inverse standard deviation. A NaN
// compares as not below `low`, so it stays.
__kernel void normalize_elements(INDEX total, INDEX c, INDEX inner, float eps, float low,
                                 __global const float* x, ulong x_at, __global const float* gamma,
                                 ulong gamma_at, __global const float* beta, ulong beta_at,
                                 __global const float* mean, ulong mean_at,
                                 __global const float* spread, ulong spread_at, __global float* y,
                                 ulong y_at) {
  const INDEX at = get_global_id(0), channel = at / inner % c;
  if (at >= total) return;
  float s = spread[spread_at + channel], m = mean[mean_at + channel];
#if INFER
  s = 1.0f / sqrt(s + eps);
#endif
  const float g = gamma[gamma_at + channel], shift = beta[beta_at + channel];
  const VEC value = (VECTOR(x + x_at, at) - m) * s * g + shift;
  PUT(value < low ? (VEC)low : value, at, y + y_at);
}

__kernel void backward(INDEX total, INDEX c, INDEX inner, float count, __global const float* x,
                       ulong x_at, __global const float* dy, ulong dy_at,
                       __global const float* gamma, ulong gamma_at, __global const float* mean,
                       ulong mean_at, __global const float* inv_std, ulong inv_std_at,
                       __global const float* sums, ulong sums_at, __global float* dx,
                       ulong dx_at) {
  const INDEX at = get_global_id(0), channel = at / inner % c;
  if (at >= total) return;
  const float s = inv_std[inv_std_at + channel], m = mean[mean_at + channel];
  const float sum = sums[sums_at + channel] / count;
  const float product = sums[sums_at + c + channel] / count;
  const float g = gamma[gamma_at + channel] * s;
  const VEC gradient = VECTOR(dy + dy_at, at), distance = VECTOR(x + x_at, at) - m;
  PUT(g * (gradient - sum - distance * s * product), at, dx + dx_at);
}
