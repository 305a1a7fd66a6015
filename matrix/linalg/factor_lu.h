// SPDX-License-Identifier: MIT
// LU with partial pivoting, in place, on host memory.
#pragma once

#include <optional>
#include <vector>

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

struct LuPivots {
  std::vector<int64_t> swapped;      // row i was exchanged with row swapped[i], in the order of i
  std::optional<int64_t> zero = {};  // the first column whose pivot is 0, if there is one
};

/// P A = L U. L has a unit diagonal and lies below the diagonal of A, U lies above. Recursive
/// (Toledo, "Locality of reference in LU decomposition with partial pivoting", 1997).
template <typename T>
LuPivots factor_lu(const MatrixView<T>& a);

/// Exchanges the rows of b as the factorization exchanged those of a.
template <typename T>
void apply_pivots(const LuPivots& pivots, const MatrixView<T>& b);

}  // namespace kaiseki::linalg
