// SPDX-License-Identifier: MIT
// The Cholesky decomposition, in place, on host memory.
#pragma once

#include <cstdint>
#include <optional>

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// A = U^T U. Reads only the upper triangle. The elements below it lose their values. Returns the
/// first column whose pivot is not positive, if there is one.
template <typename T>
std::optional<int64_t> factor_cholesky(const MatrixView<T>& a);

/// C -= A^T A. Writes the upper triangle of C, and perhaps more.
template <typename T>
void subtract_gram(const MatrixView<T>& a, const MatrixView<T>& c);

}  // namespace kaiseki::linalg
