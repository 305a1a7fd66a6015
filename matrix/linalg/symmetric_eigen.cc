// SPDX-License-Identifier: MIT
#include "matrix/linalg/symmetric_eigen.h"

#include <cmath>

#include "matrix/linalg/tridiagonal.h"

namespace kaiseki::linalg {

template <typename T>
bool symmetric_eigen(const MatrixView<T>& a, std::vector<double>& values,
                     const MatrixView<T>& vectors) {
  // A largest element of 1 keeps the squares of very large and very small elements in range.
  T largest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i; j < a.rows; ++j) largest = std::max(largest, std::abs(a(i, j)));
  if (largest > 0)
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = i; j < a.rows; ++j) a(i, j) /= largest;
  const Tridiagonalization<T> form(a);
  TridiagonalMatrix t = form.matrix();
  const bool solved = vectors.rows ? solve_by_division(t, vectors) : solve_by_rotations(t, vectors);
  if (solved && vectors.rows) form.apply(vectors);
  values = std::move(t.diagonal);
  for (double& value : values) value *= static_cast<double>(largest);
  return solved;
}

template bool symmetric_eigen(const MatrixView<float>&, std::vector<double>&,
                              const MatrixView<float>&);
template bool symmetric_eigen(const MatrixView<double>&, std::vector<double>&,
                              const MatrixView<double>&);

}  // namespace kaiseki::linalg
