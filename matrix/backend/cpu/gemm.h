// SPDX-License-Identifier: MIT
// The CPU's matrix product on plain pointers. This file does not depend on Tensor.
#pragma once

#include <cstdint>

#include "matrix/activation.h"

namespace kaiseki::cpu {

/// C[i] = activation(alpha * op(A[i]) op(B[i]) + beta * C[i] + bias), i in 0..batch, row-major.
/// op(A) is m x k, op(B) is k x n, C is m x n. If trans_a is set, A is stored as k x m. If trans_b
/// is set, B is stored as n x k. Leading dimensions and batch strides are in elements. stride_a and
/// stride_b may be 0. If beta is 0, C is not read. The result has the same bits for any number of
/// threads. A row alone may have other bits than the same row of a larger product.
struct Gemm {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  float alpha = 1, beta = 0;
  const float* a = nullptr;
  int64_t lda = 0, stride_a = 0;
  const float* b = nullptr;
  int64_t ldb = 0, stride_b = 0;
  float* c = nullptr;
  int64_t ldc = 0, stride_c = 0;
  const float* bias_row = nullptr;  // m values, one for each row of C
  const float* bias_col = nullptr;  // n values, one for each column
  Activation activation = Activation::none;
  float slope = 0.01f;  // for leaky_relu
};
void gemm(const Gemm& g);

}  // namespace kaiseki::cpu
