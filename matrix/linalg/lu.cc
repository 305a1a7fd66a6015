// SPDX-License-Identifier: MIT
#include "matrix/linalg/lu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_lu.h"
#include "matrix/ops/create.h"
#include "matrix/ops/lazy.h"

namespace kaiseki {
namespace {

using namespace linalg;

/// Exchanges the row numbers 0, 1, ... as the factorization exchanged rows.
void set_permutation(const LuPivots& pivots, std::span<int32_t> rows) {
  std::iota(rows.begin(), rows.end(), 0);
  for (size_t i = 0; i < pivots.swapped.size(); ++i)
    std::swap(rows[i], rows[static_cast<size_t>(pivots.swapped[i])]);
}

/// The outputs for the factors of one matrix.
template <typename T>
struct LuOutput {
  MatrixView<T> l, u;
  std::span<int32_t> permutation;
};

template <typename T>
void split_factors(const MatrixView<const T>& from, const LuOutput<T>& to) {
  const int64_t m = from.rows, n = from.columns, k = std::min(m, n);
  Dense<T> copy(m, n);
  const MatrixView<T> packed = copy.view();
  copy_matrix_into(packed, from);
  set_permutation(factor_lu(packed), to.permutation);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) to.l(i, j) = j < i ? packed(i, j) : T(i == j);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) to.u(i, j) = j < i ? 0 : packed(i, j);
}

LuResult split_on_device(const Tensor& a) {
  check_finite_on_device(a, "lu");
  const DeviceLu factors = lu_on_device(a);
  const int64_t m = a.dim(0), n = a.dim(1), k = std::min(m, n);
  Tensor permutation({m}, DType::i32, Device::cpu());
  set_permutation(factors.pivots,
                  {permutation.overwrite<int32_t>(), static_cast<size_t>(permutation.size())});
  const Tensor below = tril(factors.packed.slice(1, 0, k), -1);
  return {permutation.to(a.device()), below + eye(m, k, 0, DType::f32, a.device()),
          triu(factors.packed.slice(0, 0, k))};
}

struct Determinant {
  double value = 1, sign = 1, log = 0;
};

/// Pivot i is pivot_at(i).
template <class Pivot>
Determinant determinant_of(const LuPivots& pivots, const Pivot& pivot_at) {
  Determinant result;
  for (size_t i = 0; i < pivots.swapped.size(); ++i) {
    const double pivot = pivot_at(static_cast<int64_t>(i));
    const bool swapped = pivots.swapped[i] != static_cast<int64_t>(i);
    if (pivot == 0) return {0, 0, -std::numeric_limits<double>::infinity()};
    result.value *= swapped ? -pivot : pivot;
    if ((pivot < 0) != swapped) result.sign = -result.sign;
    result.log += std::log(std::abs(pivot));
  }
  return result;
}

Determinant determinant_on_device(const Tensor& a, std::string_view name) {
  check_finite_on_device(a, name);
  const DeviceLu lu = lu_on_device(a);
  const std::vector<float> diagonal = diag(lu.packed).to_vector();
  return determinant_of(lu.pivots,
                        [&](int64_t i) -> double { return diagonal[static_cast<size_t>(i)]; });
}

/// The determinants of all matrices of the batch.
std::vector<Determinant> determinants(const Tensor& a, std::string_view name) {
  check_square(a, name);
  if (factors_on_device(a, name)) return {determinant_on_device(a, name)};
  const Tensor host = host_matrices(a, name);
  std::vector<Determinant> results(static_cast<size_t>(batch_count(host)));
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto matrices = read_matrices<T>(host);
    for_each_matrix(host, [&](int64_t index) {
      Dense<T> copy(host.dim(-1), host.dim(-1));
      const MatrixView<T> packed = copy.view();
      copy_matrix_into(packed, matrices[index]);
      const LuPivots pivots = factor_lu(packed);
      results[static_cast<size_t>(index)] =
          determinant_of(pivots, [&](int64_t i) -> double { return packed(i, i); });
    });
  });
  return results;
}

/// One member of the determinants of a as [...], on the device of a.
Tensor member_of(const std::vector<Determinant>& all, double Determinant::*member,
                 const Tensor& a) {
  Tensor result(batch_shape(a), a.dtype(), Device::cpu());
  with_type(a, [&](auto zero) {
    using T = decltype(zero);
    std::transform(all.begin(), all.end(), result.overwrite<T>(),
                   [&](const Determinant& one) { return static_cast<T>(one.*member); });
  });
  return result.to(a.device());
}

}  // namespace

LuResult lu(const Tensor& a) {
  if (factors_on_device(a, "lu")) return split_on_device(a);
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
      split_factors<T>(from[i], {l[i], u[i], {permutation + i * m, static_cast<size_t>(m)}});
    });
  });
  return {result.permutation.to(a.device()), result.l.to(a.device()), result.u.to(a.device())};
}

Tensor det(const Tensor& a) { return member_of(determinants(a, "det"), &Determinant::value, a); }

SlogdetResult slogdet(const Tensor& a) {
  const std::vector<Determinant> all = determinants(a, "slogdet");
  return {member_of(all, &Determinant::sign, a), member_of(all, &Determinant::log, a)};
}

}  // namespace kaiseki
