// SPDX-License-Identifier: MIT
// Reflections of two or three elements, which chase a bulge along a Hessenberg matrix.
#pragma once

#include <cmath>

#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {

/// Sets `f` to I - v w^T, which maps x to (result, 0, 0), and v to (1, ...). Returns the result. An
/// x of 0 gives 0 and the identity.
template <typename T>
T make_reflection(const T (&x)[3], Reflection3<T>& f) {
  f = {};
  const T size = std::abs(x[0]) + std::abs(x[1]) + std::abs(x[2]);
  if (size == 0) return 0;
  const T a = x[0] / size, b = x[1] / size, c = x[2] / size;
  const T s = std::copysign(std::sqrt(a * a + b * b + c * c), a), p = a + s;
  f = {{1, b / p, c / p}, {p / s, b / s, c / s}};
  return -s * size;
}

/// Multiplies `width` elements of a row by I - v w^T from the right.
template <typename T>
void reflect_row(const Reflection3<T>& f, int width, T* row) {
  T sum = 0;
  for (int j = 0; j < width; ++j) sum += f.w[j] * row[j];
  for (int j = 0; j < width; ++j) row[j] -= sum * f.v[j];
}

}  // namespace kaiseki::linalg
