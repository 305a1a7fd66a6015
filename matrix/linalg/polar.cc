// SPDX-License-Identifier: MIT
#include "matrix/linalg/polar.h"

#include <cmath>
#include <limits>

#include "matrix/linalg/factor_cholesky.h"
#include "matrix/linalg/factor_qr.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/newton_polar.h"
#include "matrix/linalg/triangular.h"

namespace kaiseki::linalg {
namespace {

constexpr int kMaxSteps = 20;  // six are usual
// Below it, the weights would be so large that the QR decomposition loses small rows.
constexpr double kSmallestLow = 1e-6;
constexpr double kCholeskyBound = 100;  // of the weight c, beyond which Cholesky is inaccurate

struct Weights {
  double a, b, c;
};

/// The weights for singular values in [low, 1].
Weights weights_for(double low) {
  const double square = low * low;
  const double d = std::cbrt(4 * (1 - square) / (square * square));
  const double root = std::sqrt(1 + d);
  const double a =
      root + 0.5 * std::sqrt(std::max(0.0, 8 - 4 * d + 8 * (2 - square) / (square * root)));
  const double b = (a - 1) * (a - 1) / 4;
  return {a, b, a + b - 1};
}

/// next = b/c X + (a - b/c)/sqrt(c) Q1 Q2^T, with [sqrt(c) X; I] = [Q1; Q2] R.
template <typename T>
void step_by_qr(const MatrixView<T>& x, const Weights& w, const MatrixView<T>& next) {
  const int64_t n = x.rows;
  Dense<T> stacked(n, 2 * n), orthogonal(n, 2 * n);
  const MatrixView<T> t = stacked.view(), q = orthogonal.view();
  copy_transposed_into(t.block(0, 0, n, n), x);
  const T root = static_cast<T>(std::sqrt(w.c));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) t(i, j) *= root;
    t(i, n + i) = 1;
  }
  QrFactors<T>(t).form(q);
  copy_matrix_into(next, x);
  multiply(static_cast<T>((w.a - w.b / w.c) / std::sqrt(w.c)), Factor<T>{q.block(0, 0, n, n), true},
           Factor<T>{q.block(0, n, n, n)}, static_cast<T>(w.b / w.c), next);
}

/// next = b/c X + (a - b/c) X (I + c X^T X)^-1.
template <typename T>
void step_by_cholesky(const MatrixView<T>& x, const Weights& w, const MatrixView<T>& next) {
  const int64_t n = x.rows;
  Dense<T> gram(n, n), solved(n, n);
  const MatrixView<T> z = gram.view(), y = solved.view();
  for (int64_t i = 0; i < n; ++i) z(i, i) = static_cast<T>(-1 / w.c);
  subtract_gram(x, z);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j) z(i, j) *= static_cast<T>(-w.c);
  factor_cholesky(z);
  copy_transposed_into(y, x);
  solve_triangular(Triangle<T>{z, true, false, false}, y);
  solve_triangular(Triangle<T>{z, false, true, false}, y);
  copy_transposed_into(next, y);
  const T scale = static_cast<T>(w.a - w.b / w.c), keep = static_cast<T>(w.b / w.c);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) next(i, j) = scale * next(i, j) + keep * x(i, j);
}

}  // namespace

template <typename T>
void polar_factor(const MatrixView<T>& a) {
  const int64_t n = a.rows;
  constexpr double kEpsilon = std::numeric_limits<T>::epsilon();
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) norm += kernels<T>().dot(n, a.row(i), a.row(i));
  norm = std::sqrt(norm);
  if (norm == 0) return;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) a(i, j) /= static_cast<T>(norm);
  if (newton_polar(a)) return;
  Dense<T> other(n, n);
  const MatrixView<T> next = other.view();
  double low = kEpsilon;
  for (int step = 0; step < kMaxSteps; ++step) {
    const Weights w = weights_for(std::max(low, kSmallestLow));
    if (w.c > kCholeskyBound)
      step_by_qr(a, w, next);
    else
      step_by_cholesky(a, w, next);
    double change = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const double difference = next(i, j) - a(i, j);
        change += difference * difference;
      }
    copy_matrix_into(a, next);
    low = std::min(1.0, low * (w.a + w.b * low * low) / (1 + w.c * low * low));
    // The iteration is of third order, so the next change is below the precision.
    if (1 - low < 10 * kEpsilon && std::sqrt(change) < std::cbrt(kEpsilon)) break;
  }
}

template void polar_factor(const MatrixView<float>&);
template void polar_factor(const MatrixView<double>&);

}  // namespace kaiseki::linalg
