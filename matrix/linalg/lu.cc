// SPDX-License-Identifier: MIT
#include "matrix/linalg/lu.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/factor_lu.h"

namespace kaiseki {
namespace {

using namespace linalg;

/// Where the factors of one matrix go.
template <typename T>
struct LuOutput {
  MatrixView<T> l, u;
  int32_t* permutation;
};

template <typename T>
void split_factors(const MatrixView<const T>& from, const LuOutput<T>& to) {
  const int64_t m = from.rows, n = from.columns, k = std::min(m, n);
  Dense<T> copy(m, n);
  const MatrixView<T> packed = copy.view();
  copy_matrix(from, packed);
  const LuPivots pivots = factor_lu(packed);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) to.l(i, j) = j < i ? packed(i, j) : T(i == j);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) to.u(i, j) = j < i ? 0 : packed(i, j);
  std::iota(to.permutation, to.permutation + m, 0);
  for (int64_t i = 0; i < k; ++i) std::swap(to.permutation[i], to.permutation[pivots.swapped[i]]);
}

struct Determinant {
  double value, sign, log;
};

template <typename T>
Determinant determinant(const MatrixView<const T>& a) {
  Dense<T> copy(a.rows, a.columns);
  copy_matrix(a, copy.view());
  const LuPivots pivots = factor_lu(copy.view());
  Determinant result{1, 1, 0};
  for (int64_t i = 0; i < a.rows; ++i) {
    const double pivot = copy.view()(i, i);
    if (pivot == 0) return {0, 0, -std::numeric_limits<double>::infinity()};
    result.value *= pivots.swapped[i] == i ? pivot : -pivot;
    if ((pivot < 0) != (pivots.swapped[i] != i)) result.sign = -result.sign;
    result.log += std::log(std::abs(pivot));
  }
  return result;
}

/// Returns the determinants of host matrices, one member as [...].
Tensor determinants(const Tensor& host, double Determinant::*member) {
  Tensor result(batch_shape(host), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto matrices = read_matrices<T>(host);
    T* values = result.overwrite<T>();
    for_each_matrix(
        host, [&](int64_t i) { values[i] = static_cast<T>(determinant(matrices[i]).*member); });
  });
  return result;
}

}  // namespace

LuResult lu(const Tensor& a) {
  const Tensor host = host_matrices(a, "lu");
  const int64_t m = host.dim(-2), n = host.dim(-1), k = std::min(m, n);
  const Device cpu = Device::cpu();
  LuResult result{Tensor(batch_shape(host, {m}), DType::i32, cpu),
                  Tensor(batch_shape(host, {m, k}), host.dtype(), cpu),
                  Tensor(batch_shape(host, {k, n}), host.dtype(), cpu)};
  int32_t* permutation = result.permutation.overwrite<int32_t>();
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto l = write_matrices<T>(result.l), u = write_matrices<T>(result.u);
    for_each_matrix(host, [&](int64_t i) {
      split_factors<T>(from[i], {l[i], u[i], permutation + i * m});
    });
  });
  return {result.permutation.to(a.device()), result.l.to(a.device()), result.u.to(a.device())};
}

Tensor det(const Tensor& a) {
  return determinants(square_matrices(a, "det"), &Determinant::value).to(a.device());
}

SlogdetResult slogdet(const Tensor& a) {
  const Tensor host = square_matrices(a, "slogdet");
  return {determinants(host, &Determinant::sign).to(a.device()),
          determinants(host, &Determinant::log).to(a.device())};
}

}  // namespace kaiseki
