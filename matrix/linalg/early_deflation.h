// SPDX-License-Identifier: MIT
#pragma once

#include "matrix/linalg/multishift.h"

namespace kaiseki::linalg {

template <typename T>
struct EarlyDeflation {
  int64_t count;                     // eigenvalues that are found
  std::vector<ShiftPair<T>> shifts;  // the other eigenvalues of the corner
};

/// Finds converged eigenvalues in a corner of the Hessenberg matrix h, from the corner's real Schur
/// form. The corner has the rows and columns begin to end - 1. If the form is not found, the
/// result is empty, and nothing changes. h then is a Hessenberg matrix again, in real Schur form in
/// the last `count` rows. Source: Braman, Byers and Mathias, "The multishift QR algorithm: part II,
/// aggressive early deflation", 2002. The Schur form is not reordered. The rows of qt are the
/// columns of Q. Needs begin > 0.
template <typename T>
EarlyDeflation<T> deflate_early(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t begin,
                                int64_t end);

}  // namespace kaiseki::linalg
