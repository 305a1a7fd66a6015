// SPDX-License-Identifier: MIT
// A row-major matrix in host memory, the operands of the decompositions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/gemm_f64.h"
#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {

/// Does not own its elements. `ld` is the distance of rows in elements.
template <typename T>
struct MatrixView {
  T* data;
  int64_t rows, columns, ld;

  T& operator()(int64_t i, int64_t j) const { return data[i * ld + j]; }
  T* row(int64_t i) const { return data + i * ld; }
  MatrixView block(int64_t i, int64_t j, int64_t height, int64_t width) const {
    // An empty matrix may have no storage, and a null pointer has no offsets.
    T* const first = height > 0 && width > 0 ? data + i * ld + j : data;
    return {first, height, width, ld};
  }
};

/// A matrix with its own elements, 0 at first.
template <typename T>
class Dense {
 public:
  Dense(int64_t rows, int64_t columns)
      : values_(static_cast<size_t>(rows * columns)), rows_(rows), columns_(columns) {}
  MatrixView<T> view() { return {values_.data(), rows_, columns_, columns_}; }

 private:
  std::vector<T> values_;
  int64_t rows_, columns_;
};

template <typename T>
struct Factor {
  MatrixView<T> matrix;
  bool transposed = false;
};

/// C = alpha * op(A) op(B) + beta * C. C may share storage with A and B, but no elements.
template <typename T>
void multiply(std::type_identity_t<T> alpha, const Factor<T>& a, const Factor<T>& b,
              std::type_identity_t<T> beta, const MatrixView<T>& c) {
  using Product = std::conditional_t<std::is_same_v<T, float>, cpu::Gemm, cpu::GemmF64>;
  Product g;
  g.trans_a = a.transposed, g.trans_b = b.transposed;
  g.m = c.rows, g.n = c.columns;
  g.k = a.transposed ? a.matrix.rows : a.matrix.columns;
  g.alpha = alpha, g.beta = beta;
  g.a = a.matrix.data, g.lda = a.matrix.ld;
  g.b = b.matrix.data, g.ldb = b.matrix.ld;
  g.c = c.data, g.ldc = c.ld;
  if constexpr (std::is_same_v<T, float>)
    cpu::gemm(g);
  else
    cpu::gemm_f64(g);
}

template <typename T>
void copy_matrix_into(const MatrixView<T>& to, const MatrixView<T>& from) {
  for (int64_t i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.columns, to.row(i));
}

/// to = transpose of `from`.
template <typename T>
void copy_transposed_into(const MatrixView<T>& to, const MatrixView<T>& from) {
  kernels<T>().transpose(from.rows, from.columns, from.data, from.ld, to.data, to.ld);
}

/// Sets the elements below the diagonal to 0.
template <typename T>
void clear_below(const MatrixView<T>& a) {
  for (int64_t i = 1; i < a.rows; ++i) std::fill_n(a.row(i), std::min(i, a.columns), T(0));
}

template <typename T>
void set_identity(const MatrixView<T>& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(a.row(i), a.columns, T(0));
    if (i < a.columns) a(i, i) = 1;
  }
}

}  // namespace kaiseki::linalg
