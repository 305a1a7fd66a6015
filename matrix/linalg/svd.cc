// SPDX-License-Identifier: MIT
// SVD from the polar decomposition: A = U H, and the eigenvectors of H are the right singular
// vectors (Nakatsukasa and Higham, "Stable and efficient spectral divide and conquer algorithms",
// 2013).
#include "matrix/linalg/svd.h"

#include <cmath>
#include <limits>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/factor_qr.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/polar.h"
#include "matrix/linalg/symmetric_eigen.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/random.h"

namespace kaiseki {
namespace {

using namespace linalg;

/// Makes the rows orthonormal, each by a change that is as small as its lack of norm. The vectors
/// of singular values near 0 need this: the polar factor maps them to shorter ones.
template <typename T>
void orthonormalize(const MatrixView<T>& rows) {
  const int64_t n = rows.rows;
  const T precision = static_cast<T>(n + 8) * std::numeric_limits<T>::epsilon();
  T worst = 0, sum = 0;  // the sum shows one short direction that is part of all rows
  for (int64_t i = 0; i < n; ++i) {
    const T missing = 1 - kernels<T>().dot(n, rows.row(i), rows.row(i));
    worst = std::max(worst, std::abs(missing));
    sum += missing;
  }
  if (std::max(worst, std::abs(sum)) <= 4 * precision) return;
  Dense<T> copy(n, n);
  copy_matrix_into(copy.view(), rows);
  QrFactors<T>(copy.view()).form(rows);
  for (int64_t i = 0; i < n; ++i)
    if (copy.view()(i, i) < 0)
      for (int64_t j = 0; j < n; ++j) rows(i, j) = -rows(i, j);
}

/// For a square A = sum of s_i u_i v_i^T: rows i of u and v are the vectors.
template <typename T>
bool square_svd(const MatrixView<T>& a, T* s, const MatrixView<T>& u, const MatrixView<T>& v) {
  const int64_t n = a.rows;
  Dense<T> factor(n, n), product(n, n), ascending(n, n);
  copy_matrix_into(factor.view(), a);
  polar_factor(factor.view());
  const MatrixView<T> h = product.view();
  multiply(1, Factor<T>{factor.view(), true}, Factor<T>{a}, 0, h);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) h(i, j) = (h(i, j) + h(j, i)) / 2;
  std::vector<double> values;
  if (!symmetric_eigen(h, values, ascending.view())) return false;
  for (int64_t i = 0; i < n; ++i) std::copy_n(ascending.view().row(n - 1 - i), n, v.row(i));
  multiply(1, Factor<T>{v}, Factor<T>{factor.view(), true}, 0, u);
  orthonormalize(u);
  for (int64_t i = 0; i < n; ++i) {
    const double value = values[n - 1 - i];
    s[i] = static_cast<T>(std::abs(value));
    if (value < 0)
      for (int64_t j = 0; j < n; ++j) u(i, j) = -u(i, j);
  }
  // The signs above can change the order of values near 0.
  for (int64_t i = 1; i < n; ++i)
    for (int64_t j = i; j > 0 && s[j] > s[j - 1]; --j) {
      std::swap(s[j], s[j - 1]);
      std::swap_ranges(u.row(j), u.row(j) + n, u.row(j - 1));
      std::swap_ranges(v.row(j), v.row(j) + n, v.row(j - 1));
    }
  return true;
}

/// For m >= n. t is A transposed [n, m]. u is [n or m, m], v is [n, n], with vectors as rows.
template <typename T>
bool tall_svd(const MatrixView<T>& t, T* s, const MatrixView<T>& u, const MatrixView<T>& v) {
  const int64_t n = t.rows, m = t.columns;
  Dense<T> square(n, n);
  const MatrixView<T> r = square.view();
  if (m == n) {
    copy_transposed_into(r, t);
    return square_svd(r, s, u, v);
  }
  QrFactors<T> factors(t);
  copy_transposed_into(r, t.block(0, 0, n, n));
  clear_below(r);
  set_identity(u);
  if (!square_svd(r, s, u.block(0, 0, n, n), v)) return false;
  factors.apply(u);
  return true;
}

template <typename T>
void svd_one(const MatrixView<const T>& a, T* s, const MatrixView<T>& u, const MatrixView<T>& vt,
             bool& converged) {
  const int64_t m = a.rows, n = a.columns;
  const bool wide = m < n;
  const int64_t small = std::min(m, n), large = std::max(m, n);
  Dense<T> tall(small, large), rows(wide ? vt.rows : u.columns, large), others(small, small);
  if (wide)
    copy_matrix_into(tall.view(), a);
  else
    copy_transposed_into(tall.view(), a);
  T largest = 0;
  for (int64_t i = 0; i < small; ++i)
    for (int64_t j = 0; j < large; ++j) largest = std::max(largest, std::abs(tall.view()(i, j)));
  if (largest > 0)
    for (int64_t i = 0; i < small; ++i)
      for (int64_t j = 0; j < large; ++j) tall.view()(i, j) /= largest;
  converged = tall_svd(tall.view(), s, rows.view(), others.view());
  for (int64_t i = 0; i < small; ++i) s[i] *= largest;
  if (wide) {
    copy_matrix_into(vt, rows.view());
    copy_transposed_into(u, others.view());
  } else {
    copy_transposed_into(u, rows.view());
    copy_matrix_into(vt, others.view());
  }
}

Tensor first_of(const Tensor& t, int axis, int64_t count) {
  return t.slice(axis, 0, count).contiguous();
}

void check_rank(const Tensor& a, int64_t rank, std::string_view name) {
  require(a.defined() && a.rank() >= 2, name, "expected a matrix or a batch of matrices");
  const int64_t most = std::min(a.dim(-2), a.dim(-1));
  require(rank >= 0 && rank <= most, name, "expected a rank from 0 to ", most, ", got ", rank);
}

}  // namespace

SvdResult svd(const Tensor& a, FactorSize size) {
  const Tensor host = host_matrices(a, "svd");
  const int64_t m = host.dim(-2), n = host.dim(-1), k = std::min(m, n);
  const bool full = size == FactorSize::full;
  SvdResult result{Tensor(batch_shape(host, {m, full ? m : k}), host.dtype(), Device::cpu()),
                   Tensor(batch_shape(host, {k}), host.dtype(), Device::cpu()),
                   Tensor(batch_shape(host, {full ? n : k, n}), host.dtype(), Device::cpu())};
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto u = write_matrices<T>(result.u), vt = write_matrices<T>(result.vt);
    T* s = result.s.overwrite<T>();
    for_each_matrix(host, [&](int64_t i) {
      bool converged = true;
      svd_one<T>(from[i], s + i * k, u[i], vt[i], converged);
      if (!converged)
        throw LinearAlgebraError(
            message("svd", "the iteration does not converge", in_batch(host, i)));
    });
  });
  return {result.u.to(a.device()), result.s.to(a.device()), result.vt.to(a.device())};
}

SvdResult truncated_svd(const Tensor& a, int64_t rank) {
  check_rank(a, rank, "truncated_svd");
  const SvdResult all = svd(a);
  return {first_of(all.u, -1, rank), first_of(all.s, -1, rank), first_of(all.vt, -2, rank)};
}

SvdResult randomized_svd(const Tensor& a, int64_t rank, const RandomizedSvdOptions& options) {
  check_rank(a, rank, "randomized_svd");
  require(a.rank() == 2, "randomized_svd", "expected one matrix, got ", a.shape());
  require(options.oversampling >= 0 && options.power_iterations >= 0, "randomized_svd",
          "expected options of 0 or more, got oversampling ", options.oversampling,
          " and power_iterations ", options.power_iterations);
  const Tensor host = host_matrices(a, "randomized_svd");
  const int64_t most = std::min(a.dim(-2), a.dim(-1));
  const int64_t width = rank + std::min(options.oversampling, most - rank);
  Tensor start({host.dim(1), width}, host.dtype(), Device::cpu());
  Random random(options.seed);
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    T* values = start.overwrite<T>();
    for (int64_t i = 0; i < start.size(); ++i) values[i] = static_cast<T>(random.normal());
  });
  Tensor basis = qr(matmul(host, start)).q;
  for (int i = 0; i < options.power_iterations; ++i) {
    basis = qr(matmul(host, basis, true)).q;
    basis = qr(matmul(host, basis)).q;
  }
  const SvdResult small = svd(matmul(basis, host, true));
  return {first_of(matmul(basis, small.u), 1, rank).to(a.device()),
          first_of(small.s, 0, rank).to(a.device()), first_of(small.vt, 0, rank).to(a.device())};
}

}  // namespace kaiseki
