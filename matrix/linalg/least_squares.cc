// SPDX-License-Identifier: MIT
#include "matrix/linalg/least_squares.h"

#include <limits>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/svd.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

using namespace linalg;

double cutoff_for(const Tensor& a, std::optional<double> cutoff, std::string_view name) {
  require(!cutoff || *cutoff >= 0, name, "expected a cutoff of 0 or more, got ",
          cutoff.value_or(0));
  const double precision = a.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                   : std::numeric_limits<float>::epsilon();
  return cutoff.value_or(static_cast<double>(std::max(a.dim(-1), a.dim(-2))) * precision);
}

/// s is descending.
template <typename T>
int64_t rank_of(const T* s, int64_t count, double cutoff) {
  int64_t rank = 0;
  while (rank < count && s[rank] > cutoff * s[0]) ++rank;
  return rank;
}

/// The ranks of a batch from the singular values of a.
Tensor ranks(const Tensor& a, const Tensor& s, double cutoff) {
  Tensor result(batch_shape(a), DType::i32, Device::cpu());
  int32_t* values = result.overwrite<int32_t>();
  const int64_t k = s.dim(-1);
  with_type(s, [&](auto zero) {
    const auto* first = s.data<decltype(zero)>();
    for (int64_t i = 0; i < result.size(); ++i)
      values[i] = static_cast<int32_t>(rank_of(first + i * k, k, cutoff));
  });
  return result;
}

/// V diag(1 / s) U^T B for each matrix. b is [..., m, r] on the CPU.
Tensor apply_pseudoinverse(const SvdResult& svd, const Tensor& b, double cutoff) {
  const int64_t n = svd.vt.dim(-1), r = b.dim(-1), k = svd.s.dim(-1);
  Tensor x(batch_shape(b, {n, r}), b.dtype(), Device::cpu());
  with_type(b, [&](auto zero) {
    using T = decltype(zero);
    const auto u = read_matrices<T>(svd.u), vt = read_matrices<T>(svd.vt),
               from = read_matrices<T>(b);
    const auto to = write_matrices<T>(x);
    const T* s = svd.s.data<T>();
    for_each_matrix(b, [&](int64_t i) {
      const int64_t rank = rank_of(s + i * k, k, cutoff);
      Dense<T> left(b.dim(-2), rank), side(b.dim(-2), r), right(rank, n), product(rank, r);
      for (int64_t row = 0; row < b.dim(-2); ++row)
        for (int64_t j = 0; j < rank; ++j) left.view()(row, j) = u[i](row, j);
      copy_matrix_into(side.view(), from[i]);
      copy_matrix_into(right.view(), vt[i].block(0, 0, rank, n));
      multiply(1, Factor<T>{left.view(), true}, Factor<T>{side.view()}, 0, product.view());
      for (int64_t j = 0; j < rank; ++j)
        for (int64_t column = 0; column < r; ++column) product.view()(j, column) /= s[i * k + j];
      multiply(1, Factor<T>{right.view(), true}, Factor<T>{product.view()}, 0, to[i]);
    });
  });
  return x;
}

}  // namespace

LstsqResult lstsq(const Tensor& a, const Tensor& b, std::optional<double> cutoff) {
  const Tensor host = host_matrices(a, "lstsq");
  check_tensor(b, "B", "lstsq", a.device(), a.dtype());
  const int64_t m = a.dim(-2), n = a.dim(-1);
  Shape vector = batch_shape(a, {m}), matrix = batch_shape(a, {m, 1});
  const bool one_side = b.rank() == a.rank() - 1;
  if (!one_side && b.rank() == a.rank()) matrix[-1] = b.dim(-1);
  require(b.shape() == (one_side ? vector : matrix), "lstsq", "expected B of shape ", vector,
          " or with one more dimension, for A ", a.shape(), ", got ", b.shape());
  const double limit = cutoff_for(a, cutoff, "lstsq");
  const Tensor sides = host_matrices(b.contiguous().reshape(matrix), "lstsq");
  const SvdResult parts = svd(host);
  Tensor x = apply_pseudoinverse(parts, sides, limit);
  if (one_side) x = x.reshape(batch_shape(a, {n}));
  return {x.to(a.device()), ranks(host, parts.s, limit).to(a.device()), parts.s.to(a.device())};
}

Tensor pinv(const Tensor& a, std::optional<double> cutoff) {
  const Tensor host = host_matrices(a, "pinv");
  const double limit = cutoff_for(a, cutoff, "pinv");
  Tensor identity(batch_shape(a, {a.dim(-2), a.dim(-2)}), a.dtype(), Device::cpu());
  with_type(identity, [&](auto zero) {
    const auto each = write_matrices<decltype(zero)>(identity);
    for (int64_t i = 0; i < batch_count(a); ++i) set_identity(each[i]);
  });
  return apply_pseudoinverse(svd(host), identity, limit).to(a.device());
}

Tensor matrix_rank(const Tensor& a, std::optional<double> cutoff) {
  const Tensor host = host_matrices(a, "matrix_rank");
  return ranks(host, svd(host).s, cutoff_for(a, cutoff, "matrix_rank")).to(a.device());
}

}  // namespace kaiseki
