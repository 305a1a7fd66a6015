// SPDX-License-Identifier: MIT
#include "matrix/linalg/cholesky.h"

#include <algorithm>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_cholesky.h"

namespace kaiseki {

using namespace linalg;

namespace {

constexpr int64_t kBlock = 64;

/// The upper triangle of `to` is the transposed lower one of `from`. Its lower one has no meaning.
template <typename T>
void lower_to_upper(const MatrixView<const T>& from, const MatrixView<T>& to) {
  for (int64_t i = 0; i < from.rows; i += kBlock) {
    const int64_t height = std::min(kBlock, from.rows - i);
    copy_transposed(from.block(i, 0, height, i + height), to.block(0, i, i + height, height));
  }
}

/// Transposes the upper triangle in place. The elements above the diagonal become 0.
template <typename T>
void upper_to_lower(const MatrixView<T>& a) {
  for (int64_t i = 0; i < a.rows; i += kBlock) {
    const int64_t height = std::min(kBlock, a.rows - i);
    copy_transposed(a.block(0, i, i, height), a.block(i, 0, height, i));
    for (int64_t r = i; r < i + height; ++r)
      for (int64_t c = i; c < r; ++c) a(r, c) = a(c, r);
  }
  for (int64_t i = 0; i < a.rows; ++i) std::fill(a.row(i) + i + 1, a.row(i) + a.columns, T(0));
}

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
      const MatrixView<T> l = to[index];
      lower_to_upper(from[index], l);
      if (const auto column = factor_cholesky(l))
        throw not_positive(l(*column, *column), *column, in_batch(host, index));
      upper_to_lower(l);
    });
  });
  return result.to(a.device());
}

}  // namespace kaiseki
