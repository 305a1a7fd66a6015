// SPDX-License-Identifier: MIT
// C = activation(alpha * op(A) op(B) + beta * C + bias) for GPUs, in tiles (tile_product.cl).
// TRANS_A: A is stored as [k, m]. TRANS_B: B is stored as [n, k]. BIAS 0: none, 1: per row, 2: per
// column. WHOLE_A, WHOLE_B, WHOLE_C: the matrix can be read or written in aligned vectors.
// Dimension 2 of the range has `parts` parts of `span` terms for each matrix of the batch.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gemm_tiled(
    INDEX m, INDEX n, INDEX k, INDEX lda, INDEX ldb, INDEX ldc, INDEX stride_a, INDEX stride_b,
    INDEX stride_c, INDEX parts, INDEX span, REAL alpha, REAL beta, float slope,
    __global const REAL* restrict a, ulong a_at, __global const REAL* restrict b, ulong b_at,
    __global const REAL* restrict bias, ulong bias_at, __global REAL* restrict c, ulong c_at) {
  __local REAL4 tile_a[2][TILE_K * PITCH_A], tile_b[2][TILE_K * PITCH_B];
  const int item = get_local_id(0), row = ITEM_ROW, column = ITEM_COLUMN;
  const INDEX layer = get_global_id(2), first = layer % parts * span;
  const INDEX last = k - first < span ? k : first + span;
  const INDEX row0 = (INDEX)get_global_id(1) * TILE_M, column0 = (INDEX)get_group_id(0) * TILE_N;
  a += a_at + layer / parts * stride_a;
  b += b_at + layer / parts * stride_b;
  c += c_at + layer * stride_c;
  REAL sum[EACH_M][EACH_N];
#pragma unroll
  for (int i = 0; i < EACH_M; ++i)
#pragma unroll
    for (int j = 0; j < EACH_N; ++j) sum[i][j] = 0;

  REAL4 next_a[LOADS_A / 4], next_b[LOADS_B / 4];
#if TRANS_A
#define A_AT(e) ACROSS_AT(e, TILE_M)
#define A_DEPTH(e) ACROSS_DEPTH(e, TILE_M)
#define NEXT_A(e)                                                                      \
  LOAD4(WHOLE_A, a, (k0 + A_DEPTH(e)) * lda + row0 + A_AT(e),                          \
        k0 + A_DEPTH(e) < last ? m - row0 - A_AT(e) : 0)
#define STORE_A(e) tile_a[side][A_DEPTH(e) * PITCH_A + A_AT(e) / 4] = next_a[(e) / 4]
#else
#define A_AT(e) ALONG_AT(e)
#define A_DEPTH(e) ALONG_DEPTH(e)
#define NEXT_A(e) \
  LOAD4(WHOLE_A, a, min(row0 + A_AT(e), m - 1) * lda + k0 + A_DEPTH(e), last - k0 - A_DEPTH(e))
#define STORE_A(e) store_along(tile_a[side], PITCH_A, A_DEPTH(e), A_AT(e), next_a[(e) / 4])
#endif
#if TRANS_B
#define B_AT(e) ALONG_AT(e)
#define B_DEPTH(e) ALONG_DEPTH(e)
#define NEXT_B(e) \
  LOAD4(WHOLE_B, b, min(column0 + B_AT(e), n - 1) * ldb + k0 + B_DEPTH(e), last - k0 - B_DEPTH(e))
#define STORE_B(e) store_along(tile_b[side], PITCH_B, B_DEPTH(e), B_AT(e), next_b[(e) / 4])
#else
#define B_AT(e) ACROSS_AT(e, TILE_N)
#define B_DEPTH(e) ACROSS_DEPTH(e, TILE_N)
#define NEXT_B(e)                                                                      \
  LOAD4(WHOLE_B, b, (k0 + B_DEPTH(e)) * ldb + column0 + B_AT(e),                       \
        k0 + B_DEPTH(e) < last ? n - column0 - B_AT(e) : 0)
#define STORE_B(e) tile_b[side][B_DEPTH(e) * PITCH_B + B_AT(e) / 4] = next_b[(e) / 4]
#endif

  int side = 0;
  INDEX k0 = first;
  LOAD_QUADS(next_a, NEXT_A, LOADS_A)
  LOAD_QUADS(next_b, NEXT_B, LOADS_B)
  STORE_QUADS(STORE_A, LOADS_A)
  STORE_QUADS(STORE_B, LOADS_B)
  barrier(CLK_LOCAL_MEM_FENCE);
  while (k0 < last) {
    k0 += TILE_K;
    if (k0 < last) {
      LOAD_QUADS(next_a, NEXT_A, LOADS_A)
      LOAD_QUADS(next_b, NEXT_B, LOADS_B)
    }
    multiply_step(tile_a[side], tile_b[side], row, column, sum);
    side ^= 1;
    if (k0 < last) {
      STORE_QUADS(STORE_A, LOADS_A)
      STORE_QUADS(STORE_B, LOADS_B)
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

#pragma unroll
  for (int i = 0; i < EACH_M; ++i) {
    const INDEX y = row0 + ROW_OF(i);
    if (y >= m) continue;
#pragma unroll
    for (int j = 0; j < EACH_N; j += 4) {
      const INDEX x = column0 + COLUMN_OF(j);
      __global REAL* into = c + y * ldc + x;
      REAL4 value = alpha * (REAL4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      if (beta != 0) value += beta * LOAD4(WHOLE_C, into, 0, n - x);
#if BIAS == 1
      value += bias[bias_at + y];
#elif BIAS == 2
      value += LOAD4(0, bias + bias_at, x, n - x);
#endif
      value = (REAL4)(activate(value.s0, slope), activate(value.s1, slope),
                      activate(value.s2, slope), activate(value.s3, slope));
      STORE4(WHOLE_C, into, value, n - x);
    }
  }
}
