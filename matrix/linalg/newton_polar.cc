// SPDX-License-Identifier: MIT
#include "matrix/linalg/newton_polar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/ceil_div.h"
#include "matrix/linalg/factor_lu.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/triangular.h"

namespace kaiseki::linalg {
namespace {

constexpr int kMaxSteps = 12;  // five or six are usual
constexpr int kPowerSteps = 5;
// With a larger condition, the inverse of Kahan's matrix loses digits, in f32 and in f64.
constexpr double kLargestCondition = 1e5;
constexpr int64_t kLeaf = 32;

template <typename T>
double largest_element(const MatrixView<T>& a) {
  double largest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    largest = std::max<double>(largest, std::abs(a(i, kernels<T>().largest(a.columns, a.row(i)))));
  return largest;
}

/// The largest singular value, about: the power method on a^T a, from the longest row of a.
template <typename T>
double spectral_norm(const MatrixView<T>& a) {
  const Kernels<T>& k = kernels<T>();
  const int64_t n = a.columns;
  const auto length = [&](const T* x) { return std::sqrt(k.dot(n, x, x)); };
  std::vector<T> vector(static_cast<size_t>(n));
  T longest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    if (const T here = length(a.row(i)); here > longest) {
      longest = here;
      std::copy_n(a.row(i), n, vector.begin());
    }
  double norm = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    const T scale = 1 / length(vector.data());
    std::vector<T> next(static_cast<size_t>(n));
    for (int64_t i = 0; i < a.rows; ++i)
      k.add_scaled(n, scale * k.dot(n, a.row(i), vector.data()), a.row(i), next.data());
    norm = std::sqrt(static_cast<double>(length(next.data())));
    vector = std::move(next);
  }
  return norm;
}

/// y = l^-1 for a lower l with a unit diagonal. Skips the zeros above the diagonal.
template <typename T>
void invert_unit_lower(const MatrixView<T>& l, const MatrixView<T>& y) {
  const int64_t n = l.rows;
  if (n <= kLeaf) {
    set_identity(y);
    return solve_triangular(Triangle<T>{l, false, false, true}, y);
  }
  const int64_t half = round_up(n / 2, kLeaf), rest = n - half;
  const MatrixView<T> corner = y.block(0, 0, half, half), below = y.block(half, 0, rest, half);
  invert_unit_lower(l.block(0, 0, half, half), corner);
  const MatrixView<T> bottom = l.block(half, half, rest, rest);
  multiply(-1, Factor<T>{l.block(half, 0, rest, half)}, Factor<T>{corner}, 0, below);
  solve_triangular(Triangle<T>{bottom, false, false, true}, below);
  for (int64_t i = 0; i < half; ++i) std::fill_n(y.row(i) + half, rest, T(0));
  invert_unit_lower(bottom, y.block(half, half, rest, rest));
}

/// y is the inverse of a, transposed. `work` has the size of a. Returns false if elements grow so
/// much during elimination that the inverse is inaccurate.
template <typename T>
bool invert_transposed(const MatrixView<T>& a, const MatrixView<T>& work, const MatrixView<T>& y) {
  copy_transposed_into(work, a);
  // Random matrices let elements grow by about n^(2/3).
  const double limit = (8 + 4 * std::pow(a.rows, 2.0 / 3)) * largest_element(a);
  const LuPivots pivots = factor_lu(work);
  if (pivots.zero || largest_element(work) > limit) return false;
  invert_unit_lower(work, y);
  solve_triangular(Triangle<T>{work, false, true, false}, y);
  for (int64_t i = 0; i < y.rows; ++i)
    for (int64_t j = y.columns - 1; j >= 0; --j) std::swap(y(i, j), y(i, pivots.swapped[j]));
  return true;
}

}  // namespace

template <typename T>
bool newton_polar(const MatrixView<T>& a) {
  const int64_t n = a.rows;
  constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
  Dense<T> iterate(n, n), factors(n, n), inverse(n, n);
  const MatrixView<T> x = iterate.view(), y = inverse.view();
  copy_matrix_into(x, a);
  if (!invert_transposed(x, factors.view(), y)) return false;
  const double largest = spectral_norm(x), smallest = 1 / spectral_norm(y);
  if (!(largest < kLargestCondition * smallest)) return false;
  // All singular values times `scale` are in [1 / range, range], about.
  double range = std::sqrt(largest / smallest), scale = 1 / std::sqrt(largest * smallest);
  for (int step = 0; step < kMaxSteps; ++step) {
    const T keep = static_cast<T>(scale / 2), add = static_cast<T>(0.5 / scale);
    double change = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const T next = keep * x(i, j) + add * y(i, j);
        y(i, j) = next - x(i, j);
        x(i, j) = next;
      }
      change += kernels<T>().dot(n, y.row(i), y.row(i));
    }
    // The iteration is of second order, so the next change is below the precision.
    if (change < kEpsilon * static_cast<double>(n)) {
      copy_matrix_into(a, x);
      return true;
    }
    range = std::sqrt((range + 1 / range) / 2);
    scale = 1 / range;
    if (!invert_transposed(x, factors.view(), y)) return false;
  }
  return false;
}

template bool newton_polar(const MatrixView<float>&);
template bool newton_polar(const MatrixView<double>&);

}  // namespace kaiseki::linalg
