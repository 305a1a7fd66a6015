// SPDX-License-Identifier: MIT
// The implicit QL algorithm (Wilkinson and Reinsch, "Handbook for Automatic Computation", 1971).
#include <cmath>
#include <limits>
#include <numeric>

#include "matrix/linalg/kernels.h"
#include "matrix/linalg/tridiagonal.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kMaxSweeps = 60;  // per eigenvalue on average; about two are usual

double largest_element(const TridiagonalMatrix& t) {
  double largest = 0;
  for (double d : t.diagonal) largest = std::max(largest, std::abs(d));
  for (double e : t.off) largest = std::max(largest, std::abs(e));
  return largest;
}

/// Returns the first index from `first` on whose off-diagonal element is negligible. The element is
/// compared with its neighbors, or with the largest element of the matrix.
int64_t end_of_block(const TridiagonalMatrix& t, int64_t first, double largest) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const auto n = static_cast<int64_t>(t.diagonal.size());
  int64_t i = first;
  for (; i < n - 1; ++i) {
    const double size = std::abs(t.diagonal[i]) + std::abs(t.diagonal[i + 1]);
    if (std::abs(t.off[i]) <= kEpsilon * std::max(size, largest / 16)) break;
  }
  return i;
}

template <typename T>
void sweep(TridiagonalMatrix& t, int64_t first, int64_t last, const MatrixView<T>& vectors) {
  std::vector<double>&d = t.diagonal, &e = t.off;
  double g = (d[first + 1] - d[first]) / (2 * e[first]);
  g = d[last] - d[first] + e[first] / (g + std::copysign(std::hypot(g, 1.0), g));
  double s = 1, c = 1, p = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    double f = s * e[i];
    const double b = c * e[i], r = std::hypot(f, g);
    if (i + 1 < last) e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= p;
      return;
    }
    s = f / r, c = g / r;
    g = d[i + 1] - p;
    const double h = (d[i] - g) * s + 2 * c * b;
    p = s * h;
    d[i + 1] = g + p;
    g = c * h - b;
    if (vectors.rows)
      kernels<T>().rotate(vectors.columns, static_cast<T>(c), static_cast<T>(s), vectors.row(i + 1),
                          vectors.row(i));
  }
  d[first] -= p;
  e[first] = g;
}

template <typename T>
void sort(TridiagonalMatrix& t, const MatrixView<T>& vectors) {
  const auto n = static_cast<int64_t>(t.diagonal.size());
  for (int64_t i = 0; i < n; ++i) {
    const auto least = std::min_element(t.diagonal.begin() + i, t.diagonal.end());
    const int64_t from = least - t.diagonal.begin();
    if (from == i) continue;
    std::swap(t.diagonal[i], *least);
    if (vectors.rows)
      std::swap_ranges(vectors.row(i), vectors.row(i) + vectors.columns, vectors.row(from));
  }
}

}  // namespace

template <typename T>
bool solve_by_rotations(TridiagonalMatrix& t, const MatrixView<T>& vectors) {
  const auto n = static_cast<int64_t>(t.diagonal.size());
  const double largest = largest_element(t);
  int64_t sweeps = 0;
  for (int64_t first = 0; first < n;) {
    const int64_t last = end_of_block(t, first, largest);
    if (last == first) {
      ++first;
    } else {
      if (sweeps++ == kMaxSweeps * n) return false;
      sweep(t, first, last, vectors);
    }
  }
  if (vectors.rows)
    sort(t, vectors);
  else
    std::sort(t.diagonal.begin(), t.diagonal.end());
  return true;
}

template bool solve_by_rotations(TridiagonalMatrix&, const MatrixView<float>&);
template bool solve_by_rotations(TridiagonalMatrix&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
