// SPDX-License-Identifier: MIT
#include "matrix/linalg/solve.h"

#include <optional>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_lu.h"
#include "matrix/linalg/triangular.h"
#include "matrix/ops/check.h"
#include "matrix/ops/create.h"

namespace kaiseki {
namespace {

using namespace linalg;

/// x = a^-1 x. Returns the column of a zero pivot, if there is one.
template <typename T>
std::optional<int64_t> solve_one(const MatrixView<const T>& a, const MatrixView<T>& x) {
  Dense<T> copy(a.rows, a.columns);
  const MatrixView<T> factors = copy.view();
  copy_matrix_into(factors, a);
  const LuPivots pivots = factor_lu(factors);
  if (pivots.zero) return pivots.zero;
  apply_pivots(pivots, x);
  solve_triangular(Triangle<T>{factors, false, false, true}, x);
  solve_triangular(Triangle<T>{factors, false, true, false}, x);
  return std::nullopt;
}

LinearAlgebraError singular(std::string_view name, int64_t column, const std::string& place) {
  return LinearAlgebraError(
      message(name, "expected an invertible matrix, got a pivot of 0 in column ", column, place));
}

/// x: [..., n, r], holds the right-hand sides and then the solutions.
void solve_all(const Tensor& host, Tensor& x, std::string_view name) {
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto matrices = read_matrices<T>(host);
    const MatrixBatch<T> sides{x.mutable_data<T>(), x.dim(-2), x.dim(-1)};
    for_each_matrix(host, [&](int64_t i) {
      if (const auto column = solve_one(matrices[i], sides[i]))
        throw singular(name, *column, in_batch(host, i));
    });
  });
}

Tensor factor_and_solve(const Tensor& a, const Tensor& b, std::string_view name) {
  check_finite_on_device(a, name);
  check_finite_on_device(b, name);
  const DeviceLu lu = lu_on_device(a);
  if (lu.pivots.zero) throw singular(name, *lu.pivots.zero, "");
  return solve_on_device(lu, b);
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b) {
  check_square(a, "solve");
  check_tensor(b, "B", "solve", a.device(), a.dtype());
  const int64_t n = a.dim(-1);
  Shape vector = batch_shape(a, {n}), matrix = batch_shape(a, {n, 1});
  const bool one_side = b.rank() == a.rank() - 1;
  if (!one_side && b.rank() == a.rank()) matrix[-1] = b.dim(-1);
  require(b.shape() == (one_side ? vector : matrix), "solve", "expected B of shape ", vector,
          " or with one more dimension, for A ", a.shape(), ", got ", b.shape());
  const Tensor sides = b.contiguous().reshape(matrix);
  if (factors_on_device(a, "solve")) return factor_and_solve(a, sides, "solve").reshape(b.shape());
  const Tensor host = host_matrices(a, "solve");
  Tensor x = host_matrices(sides, "solve").clone();
  solve_all(host, x, "solve");
  return x.reshape(b.shape()).to(a.device());
}

Tensor inv(const Tensor& a) {
  check_square(a, "inv");
  if (factors_on_device(a, "inv"))
    return factor_and_solve(a, eye(a.dim(0), DType::f32, a.device()), "inv");
  const Tensor host = host_matrices(a, "inv");
  Tensor x(host.shape(), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    const auto inverses = write_matrices<decltype(zero)>(x);
    for (int64_t i = 0; i < batch_count(host); ++i) set_identity(inverses[i]);
  });
  solve_all(host, x, "inv");
  return x.to(a.device());
}

}  // namespace kaiseki
