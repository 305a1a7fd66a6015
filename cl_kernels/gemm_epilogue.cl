// SPDX-License-Identifier: MIT
// The end of products that another kernel or library began. BIAS as in gemm_tiled.cl.
// C = activation(alpha * (sum of the parts) + beta * C + bias). Each matrix of the batch has `parts`
// parts [m, n], or none if C holds the product.
__kernel void gemm_epilogue(INDEX m, INDEX n, INDEX ldc, INDEX stride_c, INDEX parts, float alpha,
                            float beta, float slope, __global const float* part, ulong part_at,
                            __global const float* bias, ulong bias_at, __global float* c,
                            ulong c_at) {
  INDEX item = get_global_id(0), size = m * n;
  if (item >= size) return;
  INDEX row = item / n, column = item % n;
  part += part_at + get_global_id(1) * parts * size + item;
  float sum = 0;
  for (INDEX i = 0; i < parts; ++i) sum += part[i * size];
  __global float* into = c + c_at + get_global_id(1) * stride_c + row * ldc + column;
  float value = alpha * sum;
  if (beta != 0) value += beta * *into;
#if BIAS == 1
  value += bias[bias_at + row];
#elif BIAS == 2
  value += bias[bias_at + column];
#endif
  *into = activate(value, slope);
}
