// SPDX-License-Identifier: MIT
#include "matrix/linalg/early_deflation.h"

#include <cmath>
#include <limits>

#include "matrix/linalg/hessenberg.h"

namespace kaiseki::linalg {
namespace {

/// rows = (I - tau v v^T) rows
template <typename T>
void reflect_left(const std::vector<T>& v, T tau, const MatrixView<T>& rows) {
  std::vector<T> sums(static_cast<size_t>(rows.columns));
  for (int64_t i = 0; i < rows.rows; ++i)
    kernels<T>().add_scaled(rows.columns, v[i], rows.row(i), sums.data());
  for (int64_t i = 0; i < rows.rows; ++i)
    kernels<T>().add_scaled(rows.columns, -tau * v[i], sums.data(), rows.row(i));
}

/// a = a (I - tau v v^T)
template <typename T>
void reflect_right(const std::vector<T>& v, T tau, const MatrixView<T>& a) {
  for (int64_t i = 0; i < a.rows; ++i)
    kernels<T>().add_scaled(a.columns, -tau * kernels<T>().dot(a.columns, a.row(i), v.data()),
                            v.data(), a.row(i));
}

/// The number of leading rows of S that have not converged. In the basis of z, the element of H on
/// the left of row i is `spike` times element 0 of row i of z. If it is negligible, row i has
/// converged.
template <typename T>
int64_t unconverged(const MatrixView<T>& s, const MatrixView<T>& z, T spike) {
  int64_t left = s.rows;
  while (left > 0) {
    const int64_t i = left - 1;
    const bool pair = i > 0 && s(i, i - 1) != 0;
    T size = std::abs(s(i, i)), element = std::abs(spike * z(i, 0));
    if (pair) {
      size += std::sqrt(std::abs(s(i, i - 1))) * std::sqrt(std::abs(s(i - 1, i)));
      element = std::max(element, std::abs(spike * z(i - 1, 0)));
    }
    if (size == 0) size = std::abs(spike);
    if (element > std::numeric_limits<T>::epsilon() * size) break;
    left -= pair ? 2 : 1;
  }
  return left;
}

}  // namespace

template <typename T>
EarlyDeflation<T> deflate_early(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t begin,
                                int64_t end) {
  const int64_t size = end - begin;
  Dense<T> schur(size, size), vectors(size, size);
  const MatrixView<T> s = schur.view(), z = vectors.view();
  copy_matrix_into(s, h.block(begin, begin, size, size));
  set_identity(z);
  if (!reduce_to_schur(s, z)) return {};
  const T spike = h(begin, begin - 1);
  const int64_t left = unconverged(s, z, spike);
  EarlyDeflation<T> result{size - left, shift_pairs(s.block(0, 0, left, left))};
  if (left == size) return result;

  T beside = 0;
  if (left > 0) {
    std::vector<T> v(static_cast<size_t>(left));
    for (int64_t i = 0; i < left; ++i) v[i] = spike * z(i, 0);
    const Reflector<T> reflector = make_reflector(left, v.data());
    beside = reflector.beta;
    reflect_left(v, reflector.tau, s.block(0, 0, left, size));
    reflect_right(v, reflector.tau, s.block(0, 0, left, left));
    reflect_left(v, reflector.tau, z.block(0, 0, left, size));
    Dense<T> basis(left, left);
    reduce_to_hessenberg(s.block(0, 0, left, left), basis.view());
    transform_outside(s, z, 0, basis.view());
  }
  copy_matrix_into(h.block(begin, begin, size, size), s);
  h(begin, begin - 1) = beside;
  transform_outside(h, qt, begin, z);
  return result;
}

template EarlyDeflation<float> deflate_early(const MatrixView<float>&, const MatrixView<float>&,
                                             int64_t, int64_t);
template EarlyDeflation<double> deflate_early(const MatrixView<double>&, const MatrixView<double>&,
                                              int64_t, int64_t);

}  // namespace kaiseki::linalg
