// SPDX-License-Identifier: MIT
// Matrix products.
#pragma once

#include "matrix/backend.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct GemmOptions {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 0;
  const Tensor* bias_per_row = nullptr;     // [m]
  const Tensor* bias_per_column = nullptr;  // [n]
  Activation activation = Activation::none;
  float slope = 0.01f;  // of leaky_relu
};

/// C = activation(alpha * op(A) op(B) + beta * C + bias). A [m, k] (stored [k, m] when transposed),
/// B [k, n], C [m, n]; with rank 3 a batch leads, and a batch of 1 in A or B is used for all. Rows
/// may be strided, columns are contiguous. Throws ShapeError.
void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});

/// op(A) op(B) in a new tensor.
Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace kaiseki
