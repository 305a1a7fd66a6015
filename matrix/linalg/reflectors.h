// SPDX-License-Identifier: MIT
// Householder reflectors, one by one and in blocks. Vectors are rows, so that they are contiguous.
#pragma once

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// H = I - tau v v^T with H x = (beta, 0, ...). v[0] is 1.
template <typename T>
struct Reflector {
  T tau, beta;
};
/// Overwrites x with v.
template <typename T>
Reflector<T> make_reflector(int64_t n, T* x);

/// The product H_0 H_1 ... = I - V factor V^T (Schreiber and van Loan, "A storage-efficient WY
/// representation for products of Householder transformations", 1989). Row i of `v` is the vector
/// of H_i, which is 0 before its 1. `factor` is upper triangular.
template <typename T>
struct BlockReflector {
  MatrixView<T> v, factor;
};

/// Sets the factor from v and tau.
template <typename T>
void set_factor(const BlockReflector<T>& block, const T* tau);

/// Multiplies each row of x, as a column vector, by the product of the reflectors or its transpose.
template <typename T>
void apply_block(const BlockReflector<T>& block, bool transposed, const MatrixView<T>& x);

}  // namespace kaiseki::linalg
