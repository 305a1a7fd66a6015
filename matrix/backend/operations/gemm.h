// SPDX-License-Identifier: MIT
// Products of matrices.
#pragma once

#include <cstdint>

#include "matrix/activation.h"
#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// C[i] = activation(alpha * op(A[i]) op(B[i]) + beta * C[i] + bias), i in 0..batch, row-major.
/// All tensors are f32, or all are f64 without bias and activation.
/// op(A) is m x k, op(B) is k x n, C is m x n. A is stored transposed if trans_a is set, B if
/// trans_b is set. The tensors give storage and offset. Leading dimensions and batch strides are in
/// elements. A batch stride may be 0.
struct GemmArgs {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  double alpha = 1, beta = 0;  // of f32 tensors: floats
  const Tensor *a = nullptr, *b = nullptr;
  Tensor* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  enum class Bias : uint8_t { none, per_row, per_column } bias_kind = Bias::none;
  const Tensor* bias = nullptr;  // m or n contiguous values
  Activation activation = Activation::none;
  float slope = 0.01f;  // for leaky_relu
};

inline constexpr Operation<GemmArgs> kGemm{"gemm"};

}  // namespace kaiseki
