// SPDX-License-Identifier: MIT
#include "matrix/linalg/kron.h"

#include "matrix/backend/dispatch.h"
#include "matrix/linalg/batch.h"
#include "matrix/ops/check.h"
#include "matrix/ops/lazy.h"

namespace kaiseki {
namespace {

using namespace linalg;

Tensor kron_f64(const Tensor& a, const Tensor& b, const Shape& shape) {
  if (!a.device().is_cpu()) count_missing_operation("kron of f64", a.device());
  const Tensor left = a.contiguous(), right = b.contiguous();
  Tensor result(shape, DType::f64, a.device());
  const auto from = read_matrices<double>(left), other = read_matrices<double>(right);
  const auto to = write_matrices<double>(result);
  for_each_matrix(left, [&](int64_t index) {
    const auto x = from[index], y = other[index];
    for (int64_t i = 0; i < to.rows; ++i) {
      double* out = to[index].row(i);
      for (int64_t j = 0; j < x.columns; ++j)
        for (int64_t k = 0; k < y.columns; ++k) *out++ = x(i / y.rows, j) * y(i % y.rows, k);
    }
  });
  return result;
}

}  // namespace

Tensor kron(const Tensor& a, const Tensor& b) {
  check_real(a, "A", "kron");
  check_tensor(b, "B", "kron", a.device(), a.dtype());
  require(a.rank() >= 2 && a.rank() <= Shape::kMaxRank - 2 && b.rank() == a.rank() &&
              batch_shape(a) == batch_shape(b),
          "kron", "expected two matrices or two batches of one size, got ", a.shape(), " and ",
          b.shape());
  const Shape shape = batch_shape(a, {a.dim(-2) * b.dim(-2), a.dim(-1) * b.dim(-1)});
  if (a.dtype() == DType::f64) return kron_f64(a, b, shape);
  const Tensor left = a.contiguous().reshape(batch_shape(a, {a.dim(-2), 1, a.dim(-1), 1}));
  const Tensor right = b.contiguous().reshape(batch_shape(b, {1, b.dim(-2), 1, b.dim(-1)}));
  const Tensor product = left * right;
  return product.reshape(shape);
}

}  // namespace kaiseki
