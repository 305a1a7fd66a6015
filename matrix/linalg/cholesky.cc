// SPDX-License-Identifier: MIT
#include "matrix/linalg/cholesky.h"

#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_cholesky.h"

namespace kaiseki {

using namespace linalg;

namespace {

LinearAlgebraError not_positive(double pivot, int64_t column, const std::string& place) {
  return LinearAlgebraError(message("cholesky",
                                    "expected a positive definite matrix, got a pivot of ", pivot,
                                    " in column ", column, place));
}

}  // namespace

Tensor cholesky(const Tensor& a) {
  check_square(a, "cholesky");
  if (factors_on_device(a, "cholesky")) {
    check_finite_on_device(a, "cholesky");
    const DeviceCholesky result = cholesky_on_device(a);
    if (result.failed) throw not_positive(result.failed->value, result.failed->column, "");
    return result.l;
  }
  const Tensor host = host_matrices(a, "cholesky");
  Tensor result(host.shape(), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto to = write_matrices<T>(result);
    for_each_matrix(host, [&](int64_t index) {
      Dense<T> upper(from.rows, from.rows);
      const MatrixView<T> u = upper.view();
      copy_transposed(from[index], u);
      if (const auto column = factor_cholesky(u))
        throw not_positive(u(*column, *column), *column, in_batch(host, index));
      copy_transposed(u, to[index]);
      for (int64_t i = 0; i < from.rows; ++i)
        std::fill(to[index].row(i) + i + 1, to[index].row(i) + from.rows, T(0));
    });
  });
  return result.to(a.device());
}

}  // namespace kaiseki
