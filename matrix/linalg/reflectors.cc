// SPDX-License-Identifier: MIT
#include "matrix/linalg/reflectors.h"

#include <cmath>
#include <limits>

#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {
namespace {

template <typename T>
Reflector<T> reflector_of(int64_t n, T* x) {
  const T first = x[0], rest = std::sqrt(kernels<T>().dot(n - 1, x + 1, x + 1));
  x[0] = 1;
  if (rest == 0) return {0, first};
  const T beta = -std::copysign(std::hypot(first, rest), first);
  for (int64_t i = 1; i < n; ++i) x[i] /= first - beta;
  return {(beta - first) / beta, beta};
}

}  // namespace

template <typename T>
Reflector<T> make_reflector(int64_t n, T* x) {
  if (n == 1) return reflector_of(n, x);
  const T squares = kernels<T>().dot(n - 1, x + 1, x + 1);
  constexpr T kSmall = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  if (std::isfinite(squares) && squares > kSmall) return reflector_of(n, x);
  // The squares overflow or underflow. Subnormal numbers would make v inaccurate.
  T largest = 0;
  for (int64_t i = 1; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0) {
    const T first = x[0];
    x[0] = 1;
    return {0, first};
  }
  const int exponent = std::ilogb(std::max(largest, std::abs(x[0])));
  // If x[0] is much larger than the rest, its reflection changes nothing.
  for (int64_t i = 0; i < n; ++i) x[i] = std::ldexp(x[i], -exponent);
  Reflector<T> h = reflector_of(n, x);
  h.beta = std::ldexp(h.beta, exponent);
  return h;
}

template <typename T>
void set_factor(const BlockReflector<T>& block, const T* tau) {
  const int64_t n = block.v.rows;
  const MatrixView<T>& f = block.factor;
  Dense<T> products(n, n);
  const MatrixView<T> p = products.view();
  multiply(1, Factor<T>{block.v}, Factor<T>{block.v, true}, 0, p);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) f(i, j) = 0;
    f(j, j) = tau[j];
    for (int64_t i = 0; i < j; ++i) {
      T sum = 0;
      for (int64_t q = i; q < j; ++q) sum += f(i, q) * p(q, j);
      f(i, j) = -tau[j] * sum;
    }
  }
}

template <typename T>
void apply_block(const BlockReflector<T>& block, bool transposed, const MatrixView<T>& x) {
  if (x.rows == 0 || block.v.rows == 0) return;
  Dense<T> products(x.rows, block.v.rows), scaled(x.rows, block.v.rows);
  multiply(1, Factor<T>{x}, Factor<T>{block.v, true}, 0, products.view());
  multiply(1, Factor<T>{products.view()}, Factor<T>{block.factor, !transposed}, 0, scaled.view());
  multiply(-1, Factor<T>{scaled.view()}, Factor<T>{block.v}, 1, x);
}

template Reflector<float> make_reflector(int64_t, float*);
template Reflector<double> make_reflector(int64_t, double*);
template void set_factor(const BlockReflector<float>&, const float*);
template void set_factor(const BlockReflector<double>&, const double*);
template void apply_block(const BlockReflector<float>&, bool, const MatrixView<float>&);
template void apply_block(const BlockReflector<double>&, bool, const MatrixView<double>&);

}  // namespace kaiseki::linalg
