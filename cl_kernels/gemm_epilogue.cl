// SPDX-License-Identifier: MIT
// C = activation(C + bias), after a product by a library without an epilogue. BIAS as in
// gemm_tiled.cl.
__kernel void gemm_epilogue(INDEX m, INDEX n, INDEX ldc, INDEX stride_c, float slope,
                            __global const float* bias, ulong bias_at, __global float* c,
                            ulong c_at) {
  INDEX item = get_global_id(0);
  if (item >= m * n) return;
  INDEX row = item / n, column = item % n;
  __global float* into = c + c_at + get_global_id(1) * stride_c + row * ldc + column;
  float value = *into;
#if BIAS == 1
  value += bias[bias_at + row];
#elif BIAS == 2
  value += bias[bias_at + column];
#endif
  *into = activate(value, slope);
}
