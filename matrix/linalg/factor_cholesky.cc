// SPDX-License-Identifier: MIT
#include "matrix/linalg/factor_cholesky.h"

#include <cmath>

#include "matrix/ceil_div.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/triangular.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kLeaf = 32;
constexpr int64_t kGramRows = 64;  // of C: half of a product on its diagonal is wasted

template <typename T>
std::optional<int64_t> factor_leaf(const MatrixView<T>& a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    kernels<T>().subtract_row_product(a.rows, i, a.data, a.ld);
    if (!(a(i, i) > 0)) return i;
    const T root = std::sqrt(a(i, i)), scale = 1 / root;
    a(i, i) = root;
    for (int64_t j = i + 1; j < a.columns; ++j) a(i, j) *= scale;
  }
  return std::nullopt;
}

}  // namespace

template <typename T>
void subtract_gram(const MatrixView<T>& a, const MatrixView<T>& c) {
  const int64_t n = c.rows;
  if (n <= kGramRows) return multiply(-1, Factor<T>{a, true}, Factor<T>{a}, 1, c);
  const int64_t half = round_up(n / 2, kGramRows), rest = n - half;
  const MatrixView<T> left = a.block(0, 0, a.rows, half), right = a.block(0, half, a.rows, rest);
  subtract_gram(left, c.block(0, 0, half, half));
  multiply(-1, Factor<T>{left, true}, Factor<T>{right}, 1, c.block(0, half, half, rest));
  subtract_gram(right, c.block(half, half, rest, rest));
}

template <typename T>
std::optional<int64_t> factor_cholesky(const MatrixView<T>& a) {
  const int64_t n = a.rows;
  if (n <= kLeaf) return factor_leaf(a);
  const int64_t half = round_up(n / 2, kLeaf), rest = n - half;
  const MatrixView<T> corner = a.block(0, 0, half, half), right = a.block(0, half, half, rest);
  if (const auto failed = factor_cholesky(corner)) return failed;
  solve_triangular(Triangle<T>{corner, true, false, false}, right);
  const MatrixView<T> below = a.block(half, half, rest, rest);
  subtract_gram(right, below);
  const auto failed = factor_cholesky(below);
  return failed ? std::optional<int64_t>(half + *failed) : std::nullopt;
}

template void subtract_gram(const MatrixView<float>&, const MatrixView<float>&);
template void subtract_gram(const MatrixView<double>&, const MatrixView<double>&);
template std::optional<int64_t> factor_cholesky(const MatrixView<float>&);
template std::optional<int64_t> factor_cholesky(const MatrixView<double>&);

}  // namespace kaiseki::linalg
