// SPDX-License-Identifier: MIT
// C = activation(alpha * op(A) op(B) + beta * C + bias), with one work-item per element. For
// products too small or too thin for tiles. TRANS_A, TRANS_B and BIAS as in gemm_tiled.cl.
__kernel void gemm_direct(INDEX m, INDEX n, INDEX k, INDEX lda, INDEX ldb, INDEX ldc,
                          INDEX stride_a, INDEX stride_b, INDEX stride_c, REAL alpha, REAL beta,
                          float slope, __global const REAL* a, ulong a_at,
                          __global const REAL* b, ulong b_at, __global const REAL* bias,
                          ulong bias_at, __global REAL* c, ulong c_at) {
  INDEX item = get_global_id(0);
  if (item >= m * n) return;
  INDEX row = item / n, column = item % n, batch = get_global_id(1);
  a += a_at + batch * stride_a;
  b += b_at + batch * stride_b;
  REAL sum = 0;
  for (INDEX i = 0; i < k; ++i) {
#if TRANS_A
    REAL left = a[i * lda + row];
#else
    REAL left = a[row * lda + i];
#endif
#if TRANS_B
    REAL right = b[column * ldb + i];
#else
    REAL right = b[i * ldb + column];
#endif
    sum = fma(left, right, sum);
  }
  __global REAL* into = c + c_at + batch * stride_c + row * ldc + column;
  REAL value = alpha * sum;
  if (beta != 0) value += beta * *into;
#if BIAS == 1
  value += bias[bias_at + row];
#elif BIAS == 2
  value += bias[bias_at + column];
#endif
  *into = activate(value, slope);
}
