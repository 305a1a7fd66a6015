// SPDX-License-Identifier: MIT
// C = activation(alpha * op(A) op(B) + beta * C + bias) for CPUs. Both matrices are packed in
// panels, padded with zeros: A in ROWS rows, B in 16 * VECTORS columns. One work-item computes a
// strip of tiles, with the sums in registers. TRANS_A, TRANS_B and BIAS as in gemm_tiled.cl.
#define WIDTH (16 * VECTORS)

// Writes packed[panel][k][ROWS].
__kernel void pack_a(INDEX m, INDEX k, INDEX ld, INDEX stride, INDEX chunk, INDEX chunks,
                     __global const float* a, ulong a_at, __global float* packed, ulong packed_at) {
  INDEX panel = get_global_id(0) / chunks, first = get_global_id(0) % chunks * chunk;
  INDEX row0 = panel * ROWS, last = min(k, first + chunk);
  if (row0 >= m) return;
  INDEX panels = (m + ROWS - 1) / ROWS;
  a += a_at + get_global_id(1) * stride;
  packed += packed_at + (get_global_id(1) * panels + panel) * k * ROWS;
  if (row0 + ROWS <= m) {
    for (INDEX i = first; i < last; ++i)
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#if TRANS_A
        packed[i * ROWS + r] = a[i * ld + row0 + r];
#else
        packed[i * ROWS + r] = a[(row0 + r) * ld + i];
#endif
  } else {
    for (INDEX i = first; i < last; ++i)
      for (int r = 0; r < ROWS; ++r)
#if TRANS_A
        packed[i * ROWS + r] = row0 + r < m ? a[i * ld + row0 + r] : 0.0f;
#else
        packed[i * ROWS + r] = row0 + r < m ? a[(row0 + r) * ld + i] : 0.0f;
#endif
  }
}

// Writes packed[panel][k][WIDTH].
WIDE __kernel void pack_b(INDEX n, INDEX k, INDEX ld, INDEX stride, INDEX chunk, INDEX chunks,
                          __global const float* b, ulong b_at, __global float* packed,
                          ulong packed_at) {
  INDEX panel = get_global_id(0) / chunks, first = get_global_id(0) % chunks * chunk;
  INDEX column0 = panel * WIDTH, last = min(k, first + chunk);
  if (column0 >= n) return;
  INDEX panels = (n + WIDTH - 1) / WIDTH;
  b += b_at + get_global_id(1) * stride;
  packed += packed_at + (get_global_id(1) * panels + panel) * k * WIDTH;
  if (column0 + WIDTH <= n) {
#if TRANS_B
    for (INDEX i0 = first; i0 < last; i0 += 16)
      for (int v = 0; v < WIDTH; ++v) {
        __global const float* from = b + (column0 + v) * ld;
        for (INDEX i = i0; i < min(last, i0 + 16); ++i) packed[i * WIDTH + v] = from[i];
      }
#else
    for (INDEX i = first; i < last; ++i)
#pragma unroll
      for (int v = 0; v < VECTORS; ++v)
        vstore16(vload16(v, b + i * ld + column0), v, packed + i * WIDTH);
#endif
  } else {
    for (INDEX i = first; i < last; ++i)
      for (int v = 0; v < WIDTH; ++v)
#if TRANS_B
        packed[i * WIDTH + v] = column0 + v < n ? b[(column0 + v) * ld + i] : 0.0f;
#else
        packed[i * WIDTH + v] = column0 + v < n ? b[i * ld + column0 + v] : 0.0f;
#endif
  }
}

// Work-item: panel `global_id(0)` of B and `strip` panels of A. k is processed in blocks of
// `block`.
WIDE __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_packed(
    INDEX m, INDEX n, INDEX k, INDEX block, INDEX strip, INDEX ldc, INDEX stride_a, INDEX stride_b,
    INDEX stride_c, float alpha, float beta, float slope, __global const float* restrict a,
    ulong a_at, __global const float* restrict b, ulong b_at, __global const float* restrict bias,
    ulong bias_at, __global float* restrict c, ulong c_at) {
  INDEX column0 = (INDEX)get_global_id(1) * WIDTH, panels = (m + ROWS - 1) / ROWS;
  INDEX first = (INDEX)get_global_id(0) * strip, last = min(panels, first + strip);
  INDEX columns = min((INDEX)WIDTH, n - column0);
  a += a_at + get_global_id(2) * stride_a;
  b += b_at + get_global_id(2) * stride_b + (INDEX)get_global_id(1) * k * WIDTH;
  c += c_at + get_global_id(2) * stride_c + column0;
  for (INDEX k0 = 0; k0 == 0 || k0 < k; k0 += block) {
    INDEX depth = min(block, k - k0);
    bool ends = k0 + block >= k;
    float keep = k0 == 0 ? beta : 1.0f;
    for (INDEX panel = first; panel < last; ++panel) {
      __global const float* left = a + panel * k * ROWS + k0 * ROWS;
      __global const float* right = b + k0 * WIDTH;
      float16 sum[ROWS][VECTORS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) sum[r][v] = 0;
      for (INDEX i = 0; i < depth; ++i) {
        float16 row[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) row[v] = vload16(v, right);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
          for (int v = 0; v < VECTORS; ++v) sum[r][v] = fma((float16)(left[r]), row[v], sum[r][v]);
        left += ROWS;
        right += WIDTH;
      }
      INDEX row0 = panel * ROWS;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (row0 + r >= m) break;
        __global float* into = c + (row0 + r) * ldc;
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          float16 value = alpha * sum[r][v];
          INDEX rest = columns - 16 * v;
          if (rest >= 16) {
            if (keep != 0) value += keep * vload16(v, into);
            if (ends) {
#if BIAS == 1
              value += bias[bias_at + row0 + r];
#elif BIAS == 2
              value += vload16(v, bias + bias_at + column0);
#endif
              value = activate16(value, slope);
            }
            vstore16(value, v, into);
          } else if (rest > 0) {
            float lanes[16];
            vstore16(value, 0, lanes);
            for (int j = 0; j < rest; ++j) {
              float one = lanes[j];
              if (keep != 0) one += keep * into[16 * v + j];
              if (ends) {
#if BIAS == 1
                one += bias[bias_at + row0 + r];
#elif BIAS == 2
                one += bias[bias_at + column0 + 16 * v + j];
#endif
                one = activate(one, slope);
              }
              into[16 * v + j] = one;
            }
          }
        }
      }
    }
  }
}
