// SPDX-License-Identifier: MIT
// Computes some elements of op(A) op(B) to check the result of another kernel. A and B start at
// elements `first_a` and `first_b`. The elements are spread over the rows and columns of the
// matrix. y[2 * i] is the element, y[2 * i + 1] the sum of absolute products.
__kernel void gemm_check(INDEX samples, INDEX m, INDEX n, INDEX k, INDEX row_stride_a,
                         INDEX depth_stride_a, INDEX depth_stride_b, INDEX column_stride_b,
                         INDEX first_a, INDEX first_b,
                         __global const float* a, ulong a_at, __global const float* b, ulong b_at,
                         __global float* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= samples) return;
  INDEX row = (INDEX)((ulong)i * 2654435761ul % (ulong)m);
  INDEX column = (INDEX)((ulong)i * 2246822519ul % (ulong)n);
  a += a_at + first_a + row * row_stride_a;
  b += b_at + first_b + column * column_stride_b;
  float sum = 0, correction = 0, size = 0;
  for (INDEX j = 0; j < k; ++j) {
    float product = a[j * depth_stride_a] * b[j * depth_stride_b];
    float corrected = product - correction, next = sum + corrected;
    correction = (next - sum) - corrected;
    sum = next;
    size += fabs(product);
  }
  y[y_at + 2 * i] = sum;
  y[y_at + 2 * i + 1] = size;
}
