// SPDX-License-Identifier: MIT
// Symmetric matrices in tridiagonal form, and the eigenvalues and eigenvectors of that form.
#pragma once

#include <vector>

#include "matrix/linalg/reflectors.h"

namespace kaiseki::linalg {

struct TridiagonalMatrix {
  std::vector<double> diagonal, off;  // n and n - 1 values
};

/// A = Q T Q^T. Half of the work is in matrix products (Dongarra, Sorensen and Hammarling, "Block
/// reduction of matrices to condensed forms for eigenvalue computations", 1989).
template <typename T>
class Tridiagonalization {
 public:
  /// Reads and overwrites the upper triangle of a, and keeps it for apply().
  explicit Tridiagonalization(const MatrixView<T>& a);
  const TridiagonalMatrix& matrix() const { return matrix_; }
  /// Multiplies each row of x by Q.
  void apply(const MatrixView<T>& x) const;

 private:
  void reduce_panel(int64_t begin, int64_t end, const MatrixView<T>& p, const MatrixView<T>& q);

  MatrixView<T> a_;
  TridiagonalMatrix matrix_;
  std::vector<T> tau_;
};

/// Sorts the eigenvalues into t.diagonal, ascending. Multiplies the rotations into the rows of
/// `vectors`, if it has any. Row i then becomes the eigenvector of value i. Returns false if an
/// eigenvalue does not converge.
template <typename T>
bool solve_by_rotations(TridiagonalMatrix& t, const MatrixView<T>& vectors);

/// The same for `vectors` [n, n], which is overwritten with the eigenvectors. Divide and conquer
/// (Gu and Eisenstat, "A divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem",
/// 1995).
template <typename T>
bool solve_by_division(TridiagonalMatrix& t, const MatrixView<T>& vectors);

}  // namespace kaiseki::linalg
