// SPDX-License-Identifier: MIT
// C = activation(alpha * op(A) op(B) + beta * C + bias) for GPUs. A work-group of 16 x 16 items
// computes a tile of TILE_M x TILE_N through local memory. Each item computes (TILE_M/16) x
// (TILE_N/16) elements. TRANS_A: A is stored as [k, m]. TRANS_B: B is stored as [n, k]. BIAS 0:
// none, 1: per row, 2: per column.
#define ROWS (TILE_M / 16)
#define COLUMNS (TILE_N / 16)

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm_tiled(
    INDEX m, INDEX n, INDEX k, INDEX lda, INDEX ldb, INDEX ldc, INDEX stride_a, INDEX stride_b,
    INDEX stride_c, REAL alpha, REAL beta, float slope, __global const REAL* a, ulong a_at,
    __global const REAL* b, ulong b_at, __global const REAL* bias, ulong bias_at,
    __global REAL* c, ulong c_at) {
  __local REAL tile_a[TILE_K][TILE_M + 4];
  __local REAL tile_b[TILE_K][TILE_N + 4];
  int tx = get_local_id(0), ty = get_local_id(1), item = ty * 16 + tx;
  INDEX row0 = (INDEX)get_global_id(1) / 16 * TILE_M, column0 = (INDEX)get_group_id(0) * TILE_N;
  a += a_at + get_global_id(2) * stride_a;
  b += b_at + get_global_id(2) * stride_b;
  c += c_at + get_global_id(2) * stride_c;
  REAL sum[ROWS][COLUMNS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) sum[i][j] = 0;
  for (INDEX k0 = 0; k0 < k; k0 += TILE_K) {
#pragma unroll
    for (int load = 0; load < TILE_M * TILE_K / 256; ++load) {
      int i = item + 256 * load;
#if TRANS_A
      int row = i % TILE_M, depth = i / TILE_M;
      bool inside = row0 + row < m && k0 + depth < k;
      tile_a[depth][row] = inside ? a[(k0 + depth) * lda + row0 + row] : 0.0f;
#else
      int row = i / TILE_K, depth = i % TILE_K;
      bool inside = row0 + row < m && k0 + depth < k;
      tile_a[depth][row] = inside ? a[(row0 + row) * lda + k0 + depth] : 0.0f;
#endif
    }
#pragma unroll
    for (int load = 0; load < TILE_N * TILE_K / 256; ++load) {
      int i = item + 256 * load;
#if TRANS_B
      int column = i / TILE_K, depth = i % TILE_K;
      bool inside = column0 + column < n && k0 + depth < k;
      tile_b[depth][column] = inside ? b[(column0 + column) * ldb + k0 + depth] : 0.0f;
#else
      int column = i % TILE_N, depth = i / TILE_N;
      bool inside = column0 + column < n && k0 + depth < k;
      tile_b[depth][column] = inside ? b[(k0 + depth) * ldb + column0 + column] : 0.0f;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int depth = 0; depth < TILE_K; ++depth) {
      REAL left[ROWS], right[COLUMNS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) left[i] = tile_a[depth][ty + 16 * i];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) right[j] = tile_b[depth][tx + 16 * j];
#pragma unroll
      for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    INDEX row = row0 + ty + 16 * i;
    if (row >= m) break;
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
      INDEX column = column0 + tx + 16 * j;
      if (column >= n) break;
      __global REAL* into = c + row * ldc + column;
      REAL value = alpha * sum[i][j];
      if (beta != 0) value += beta * *into;
#if BIAS == 1
      value += bias[bias_at + row];
#elif BIAS == 2
      value += bias[bias_at + column];
#endif
      *into = activate(value, slope);
    }
  }
}
