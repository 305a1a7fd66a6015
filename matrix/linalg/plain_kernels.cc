// SPDX-License-Identifier: MIT
// The loops of matrix/linalg/kernels.cc without vectors, for WebAssembly: Highway 1.0 has no
// vectors of doubles there. They are also shorter, because pages download them.
#include <cmath>

#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {
namespace {

template <typename T>
void transpose(int64_t rows, int64_t columns, const T* from, int64_t ld, T* to, int64_t ld_to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * ld_to + i] = from[i * ld + j];
}

template <typename T>
T dot(int64_t n, const T* x, const T* y) {
  T total = 0;
  for (int64_t i = 0; i < n; ++i) total += x[i] * y[i];
  return total;
}

template <typename T>
void add_scaled(int64_t n, T a, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

template <typename T>
int64_t largest(int64_t n, const T* x) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (std::abs(x[i]) > std::abs(x[best])) best = i;
  return best;
}

template <typename T>
void multiply_symmetric(int64_t n, int64_t begin, int64_t end, const T* a, int64_t lda, const T* x,
                        T* y) {
  for (int64_t i = begin; i < end; ++i) {
    T sum = a[i * lda + i] * x[i];
    for (int64_t j = i + 1; j < n; ++j) {
      sum += a[i * lda + j] * x[j];
      y[j] += a[i * lda + j] * x[i];
    }
    y[i] += sum;
  }
}

template <typename T>
void solve_lower(const SmallTriangle<T>& l, int64_t columns, T* b, int64_t ldb) {
  for (int64_t i = 0; i < l.n; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      T value = b[i * ldb + j];
      for (int64_t p = 0; p < i; ++p) value -= l.data[i * l.row + p * l.column] * b[p * ldb + j];
      b[i * ldb + j] = l.unit ? value : value / l.data[i * (l.row + l.column)];
    }
}

template <typename T>
void subtract_row_product(int64_t n, int64_t i, T* a, int64_t lda) {
  for (int64_t p = 0; p < i; ++p)
    for (int64_t j = i; j < n; ++j) a[i * lda + j] -= a[p * lda + i] * a[p * lda + j];
}

template <typename T>
void rotate(int64_t n, T c, T s, T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - s * a;
  }
}

template <typename T>
void reflect_rows(int64_t n, const T* v, const T* w, T* a, T* b, T* c) {
  for (int64_t i = 0; i < n; ++i) {
    T sum = w[0] * a[i] + w[1] * b[i];
    if (c) {
      sum += w[2] * c[i];
      c[i] -= sum * v[2];
    }
    a[i] -= sum * v[0];
    b[i] -= sum * v[1];
  }
}

/// One row.
template <typename T>
void reflect_columns(int64_t count, const Reflection3<T>* f, T* row, int64_t) {
  for (int64_t i = 0; i < count; ++i, ++f, ++row) {
    const T sum = f->w[0] * row[0] + f->w[1] * row[1] + f->w[2] * row[2];
    for (int k = 0; k < 3; ++k) row[k] -= sum * f->v[k];
  }
}

template <typename T>
constexpr Kernels<T> kPlain = {transpose<T>,
                               dot<T>,
                               add_scaled<T>,
                               largest<T>,
                               multiply_symmetric<T>,
                               solve_lower<T>,
                               subtract_row_product<T>,
                               rotate<T>,
                               reflect_rows<T>,
                               1,
                               reflect_columns<T>};

}  // namespace

PoleSums pole_sums(int64_t n, const double* poles, const double* z, double origin, double x) {
  PoleSums result{0, 0};
  for (int64_t i = 0; i < n; ++i) {
    const double ratio = z[i] / ((poles[i] - origin) - x);
    result.sum += z[i] * ratio;
    result.derivative += ratio * ratio;
  }
  return result;
}

template <>
const Kernels<float>& kernels<float>() {
  return kPlain<float>;
}
template <>
const Kernels<double>& kernels<double>() {
  return kPlain<double>;
}

}  // namespace kaiseki::linalg
