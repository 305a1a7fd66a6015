// SPDX-License-Identifier: MIT
// QR with Householder reflectors, in host memory.
#pragma once

#include "matrix/linalg/reflectors.h"

namespace kaiseki::linalg {

/// A = Q R. Blocks of columns are factored recursively (Elmroth and Gustavson, "Applying recursion
/// to serial and parallel QR factorization", 2000). Matrices are transposed: a row is a column of
/// A.
template <typename T>
class QrFactors {
 public:
  /// t is A transposed, [n, m]. It then holds R transposed: t(j, i) = R(i, j) for i <= j.
  explicit QrFactors(const MatrixView<T>& t);
  /// Multiplies each row of x, a vector of m elements, by Q.
  void apply(const MatrixView<T>& x);
  /// Sets the rows of q to the first columns of Q. q is [count, m].
  void form(const MatrixView<T>& q);

  /// The columns of a block of reflectors.
  static constexpr int64_t kBlock = 64;
  /// The reflectors of the columns from `begin` on.
  BlockReflector<T> block(int64_t begin);

 private:
  void factor(const MatrixView<T>& t, int64_t begin, int64_t end, const MatrixView<T>& factor);
  void leaf(const MatrixView<T>& t, int64_t begin, int64_t end, const MatrixView<T>& factor);

  int64_t count_, m_;
  Dense<T> v_, factors_;
};

}  // namespace kaiseki::linalg
