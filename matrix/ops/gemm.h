// SPDX-License-Identifier: MIT
// Matrix products.
#pragma once

#include "matrix/activation.h"
#include "matrix/tensor.h"

namespace kaiseki {

struct GemmOptions {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 0;
  const Tensor* bias_per_row = nullptr;     // [m]
  const Tensor* bias_per_column = nullptr;  // [n]
  Activation activation = Activation::none;
  float slope = 0.01f;  // for leaky_relu
};

/// C = activation(alpha * op(A) op(B) + beta * C + bias). A is [m, k] (stored as [k, m] if
/// transposed), B [k, n], C [m, n]. With rank 3, the first dimension is the batch. If A or B has a
/// batch of 1, it is used for all products. Rows may be strided, columns must be contiguous. All
/// are f32, or all are f64 without bias and activation. alpha and beta get the type of the tensors.
/// Throws ShapeError. The order of the parameters is that of BLAS, so the output C follows A and B.
void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});

/// op(A) op(B), for any strides, as in NumPy: vectors are rows or columns, and batches broadcast.
Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false);

}  // namespace kaiseki
