// SPDX-License-Identifier: MIT
// The eigenvalues and eigenvectors of a symmetric matrix in host memory.
#pragma once

#include <vector>

#include "matrix/linalg/matrix_view.h"

namespace kaiseki::linalg {

/// Reads and overwrites the upper triangle of a. Sets the eigenvalues, ascending. If `vectors` has
/// rows, row i becomes the eigenvector of value i. Returns false if the iteration does not
/// converge.
template <typename T>
bool symmetric_eigen(const MatrixView<T>& a, std::vector<double>& values,
                     const MatrixView<T>& vectors);

}  // namespace kaiseki::linalg
