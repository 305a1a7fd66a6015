// SPDX-License-Identifier: MIT
// The vector loops of the decompositions, for the best instruction set of this machine.
#pragma once

#include <cstdint>

namespace kaiseki::linalg {

/// A triangular matrix of at most kMaxRows rows. Element (i, p) is at
/// data[i * row + p * column].
template <typename T>
struct SmallTriangle {
  static constexpr int64_t kMaxRows = 32;
  const T* data;
  int64_t n, row, column;
  bool unit;  // the diagonal is 1, and is not read
};

/// I - v w^T on three rows or columns.
template <typename T>
struct Reflection3 {
  T v[3], w[3];
};

template <typename T>
struct Kernels {
  /// to[j * ld_to + i] = from[i * ld + j]
  void (*transpose)(int64_t rows, int64_t columns, const T* from, int64_t ld, T* to, int64_t ld_to);
  T (*dot)(int64_t n, const T* x, const T* y);
  /// y += a x
  void (*add_scaled)(int64_t n, T a, const T* x, T* y);
  /// The index of the largest |x|. x has no NaN.
  int64_t (*largest)(int64_t n, const T* x);
  /// y += A x for a symmetric A, in row-major. Reads rows begin..end of the upper triangle.
  void (*multiply_symmetric)(int64_t n, int64_t begin, int64_t end, const T* a, int64_t lda,
                             const T* x, T* y);
  /// B = L^-1 B for a lower triangle. A negative ldb and negative strides make it an upper one.
  void (*solve_lower)(const SmallTriangle<T>& l, int64_t columns, T* b, int64_t ldb);
  /// Row i of an n x n matrix A: A(i, j) -= sum over p < i of A(p, i) A(p, j), for j >= i. The
  /// elements before column i lose their values.
  void (*subtract_row_product)(int64_t n, int64_t i, T* a, int64_t lda);
  /// (x, y) = (c x + s y, c y - s x)
  void (*rotate)(int64_t n, T c, T s, T* x, T* y);
  /// Multiplies I - v w^T by the rows a, b and c. c may be nullptr.
  void (*reflect_rows)(int64_t n, const T* v, const T* w, T* a, T* b, T* c);
  /// Multiplies reflected_rows rows by count reflections from the right. Reflection i changes
  /// columns i to i + 2.
  int64_t reflected_rows;
  void (*reflect_columns)(int64_t count, const Reflection3<T>* reflections, T* rows, int64_t ld);
};

/// `sum` adds z^2 / (pole - origin - x). `derivative` adds z^2 / (pole - origin - x)^2.
struct PoleSums {
  double sum, derivative;
};
PoleSums pole_sums(int64_t n, const double* poles, const double* z, double origin, double x);

/// T is float or double. Selects the kernels on the first call.
template <typename T>
const Kernels<T>& kernels();

}  // namespace kaiseki::linalg
