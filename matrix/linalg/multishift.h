// SPDX-License-Identifier: MIT
// QR sweeps with many shifts at once (Braman, Byers and Mathias, "The multishift QR algorithm",
// 2002). Most of the work is in matrix products.
#pragma once

#include <vector>

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// Two real shifts a and b, or the complex shifts a + imaginary i and a - imaginary i. Then a = b.
template <typename T>
struct ShiftPair {
  T a, b, imaginary;
};

/// The eigenvalues of a matrix in real Schur form, as pairs of shifts. A single real value that is
/// left is taken twice.
template <typename T>
std::vector<ShiftPair<T>> shift_pairs(const MatrixView<T>& s);

/// A sweep over rows and columns first to last of the Hessenberg matrix h. Needs 3 rows for each
/// pair of shifts, and 2 more. A 0 on the subdiagonal ends the effect of the shifts there. The rows
/// of qt are the columns of Q.
template <typename T>
void multishift_sweep(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t first, int64_t last,
                      const std::vector<ShiftPair<T>>& shifts);

/// Applies a similarity transformation of u.rows rows and columns from `first` on to the rest of h,
/// and to qt. The rows of `u` are the columns of the orthogonal matrix. The block on the diagonal
/// has been transformed already.
template <typename T>
void transform_outside(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t first,
                       const MatrixView<T>& u);

}  // namespace kaiseki::linalg
