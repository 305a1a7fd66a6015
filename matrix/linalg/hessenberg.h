// SPDX-License-Identifier: MIT
// General matrices in Hessenberg form and in real Schur form, in host memory.
#pragma once

#include <vector>

#include "matrix/linalg/reflectors.h"

namespace kaiseki::linalg {

/// Overwrites a with H, where A = Q H Q^T and H is 0 below its first subdiagonal. The rows of qt
/// become the columns of Q. Most of the work is in matrix products (Quintana-Orti and van de Geijn,
/// "Improving the performance of reduction to Hessenberg form", 2006).
template <typename T>
void reduce_to_hessenberg(const MatrixView<T>& a, const MatrixView<T>& qt);

/// Overwrites h with the upper triangle S, where H = Z S Z^T. S has blocks of 2 x 2 for pairs of
/// complex eigenvalues. Multiplies Z into the columns of Q, the rows of qt. Returns false if an
/// eigenvalue does not converge. The implicit double-shift QR algorithm (Francis, "The QR
/// transformation", 1961; EISPACK's hqr2).
template <typename T>
bool reduce_to_schur(const MatrixView<T>& h, const MatrixView<T>& qt);

/// The eigenvalues of S, and its eigenvectors as rows. Row i of `vectors` is real if the imaginary
/// part of value i is 0. In a pair, the imaginary part of value i is positive. Rows i and i + 1 are
/// the real and the imaginary part of its vector.
template <typename T>
struct SchurEigen {
  std::vector<double> real, imaginary;
};
template <typename T>
SchurEigen<T> schur_eigen(const MatrixView<T>& s, const MatrixView<T>& vectors);

}  // namespace kaiseki::linalg
