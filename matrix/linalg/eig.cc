// SPDX-License-Identifier: MIT
#include "matrix/linalg/eig.h"

#include <cmath>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/hessenberg.h"

namespace kaiseki {
namespace {

using namespace linalg;

template <typename T>
struct EigOutput {
  T *real, *imaginary;
  MatrixView<T> vectors_real, vectors_imaginary;
};

/// Writes column `column` of the vectors: real + imaginary i, with norm 1. `imaginary` is nullptr
/// for a real vector.
template <typename T>
void write_vector(const EigOutput<T>& to, int64_t column, const T* real, const T* imaginary,
                  double sign) {
  const int64_t n = to.vectors_real.rows;
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    norm += static_cast<double>(real[i]) * real[i];
    if (imaginary) norm += static_cast<double>(imaginary[i]) * imaginary[i];
  }
  norm = std::sqrt(norm);
  for (int64_t i = 0; i < n; ++i) {
    to.vectors_real(i, column) = static_cast<T>(real[i] / norm);
    to.vectors_imaginary(i, column) = imaginary ? static_cast<T>(sign * imaginary[i] / norm) : 0;
  }
}

template <typename T>
bool eig_one(const MatrixView<const T>& a, const EigOutput<T>& to) {
  const int64_t n = a.rows;
  Dense<T> copy(n, n), columns(n, n), rows(n, n), product(n, n);
  const MatrixView<T> h = copy.view(), qt = columns.view(), vectors = product.view();
  // A largest element of 1 keeps the squares of very large and very small elements in range.
  T scale = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) scale = std::max(scale, std::abs(a(i, j)));
  if (scale == 0) scale = 1;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) h(i, j) = a(i, j) / scale;
  reduce_to_hessenberg(h, qt);
  if (!reduce_to_schur(h, qt)) return false;
  const SchurEigen<T> found = schur_eigen(h, rows.view());
  multiply(1, Factor<T>{rows.view()}, Factor<T>{qt}, 0, vectors);
  for (int64_t i = 0; i < n; ++i) {
    to.real[i] = static_cast<T>(found.real[i] * scale);
    to.imaginary[i] = static_cast<T>(found.imaginary[i] * scale);
    if (found.imaginary[i] == 0) write_vector<T>(to, i, vectors.row(i), nullptr, 1);
    if (found.imaginary[i] > 0) write_vector<T>(to, i, vectors.row(i), vectors.row(i + 1), 1);
    if (found.imaginary[i] < 0) write_vector<T>(to, i, vectors.row(i - 1), vectors.row(i), -1);
  }
  return true;
}

}  // namespace

EigResult eig(const Tensor& a) {
  const Tensor host = square_matrices(a, "eig");
  const int64_t n = host.dim(-1);
  const auto pair = [&](const Shape& shape) {
    return ComplexPair{Tensor(shape, host.dtype(), Device::cpu()),
                       Tensor(shape, host.dtype(), Device::cpu())};
  };
  EigResult result{pair(batch_shape(host, {n})), pair(host.shape())};
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto real = write_matrices<T>(result.vectors.real);
    const auto imaginary = write_matrices<T>(result.vectors.imaginary);
    T* values_real = result.values.real.overwrite<T>();
    T* values_imaginary = result.values.imaginary.overwrite<T>();
    for_each_matrix(host, [&](int64_t i) {
      if (!eig_one<T>(from[i],
                      {values_real + i * n, values_imaginary + i * n, real[i], imaginary[i]}))
        throw LinearAlgebraError(
            message("eig", "the iteration does not converge", in_batch(host, i)));
    });
  });
  for (ComplexPair* p : {&result.values, &result.vectors})
    *p = {p->real.to(a.device()), p->imaginary.to(a.device())};
  return result;
}

}  // namespace kaiseki
