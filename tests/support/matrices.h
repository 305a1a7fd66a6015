// SPDX-License-Identifier: MIT
// Matrices for tests of linear algebra: plain products in double, residuals, and both types.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "matrix/random.h"
#include "matrix/tensor.h"
#include "tests/support/devices.h"
#include "tests/support/loops.h"
#include "tests/support/slow.h"

namespace kaiseki::test {

/// A row-major matrix of doubles.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  double& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  double operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  REQUIRE(a.columns == b.rows);
  Matrix c(a.rows, b.columns);
  multiply_loops(a.values.data(), b.values.data(), a.rows, b.columns, a.columns, c.values.data());
  return c;
}

inline Matrix operator-(Matrix a, const Matrix& b) {
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.columns == b.columns);
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] -= b.values[i];
  return a;
}

inline Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

inline Matrix identity(int64_t n) {
  Matrix a(n, n);
  for (int64_t i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}

inline Matrix random_matrix(int64_t rows, int64_t columns, uint64_t seed) {
  Random random(seed);
  Matrix a(rows, columns);
  for (double& v : a.values) v = random.normal();
  return a;
}

inline Matrix random_symmetric(int64_t n, uint64_t seed) {
  const Matrix a = random_matrix(n, n, seed);
  Matrix s(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) s(i, j) = (a(i, j) + a(j, i)) / 2;
  return s;
}

/// The root of the sum of squares.
inline double size_of(const Matrix& a) {
  double sum = 0;
  for (double v : a.values) sum += v * v;
  return std::sqrt(sum);
}

inline double largest_of(const Matrix& a) {
  double largest = 0;
  for (double v : a.values) largest = std::max(largest, std::abs(v));
  return largest;
}

/// The values as a tensor [rows, columns], or of another shape.
inline Tensor tensor_of(const Matrix& a, DType type, Device device, Shape shape = {}) {
  if (shape.rank() == 0) shape = {a.rows, a.columns};
  if (type == DType::f64) return Tensor::from(std::span<const double>(a.values), shape, device);
  const std::vector<float> narrow(a.values.begin(), a.values.end());
  return Tensor::from(std::span<const float>(narrow), shape, device);
}

inline std::vector<double> values_of(const Tensor& t) {
  if (t.dtype() == DType::f64) return t.to_vector<double>();
  const std::vector<float> narrow = t.to_vector<float>();
  return {narrow.begin(), narrow.end()};
}

/// The matrix `index` of a batch. A tensor of rank 1 is a column.
inline Matrix matrix_of(const Tensor& t, int64_t index = 0) {
  const std::vector<double> all = values_of(t);
  Matrix a(t.rank() == 1 ? t.dim(0) : t.dim(-2), t.rank() == 1 ? 1 : t.dim(-1));
  std::copy_n(all.begin() + index * a.rows * a.columns, a.rows * a.columns, a.values.begin());
  return a;
}

inline double precision_of(DType type) {
  return type == DType::f64 ? std::numeric_limits<double>::epsilon()
                            : std::numeric_limits<float>::epsilon();
}

inline Matrix diagonal(const std::vector<double>& values, int64_t rows, int64_t columns) {
  Matrix a(rows, columns);
  for (size_t i = 0; i < values.size(); ++i)
    a(static_cast<int64_t>(i), static_cast<int64_t>(i)) = values[i];
  return a;
}

/// How far the columns are from orthonormal.
inline double orthogonality(const Matrix& q) {
  return size_of(transposed(q) * q - identity(q.columns));
}

/// The types that the device holds.
inline std::vector<DType> real_types(Device device) {
  if (device.holds(DType::f64)) return {DType::f32, DType::f64};
  return {DType::f32};
}

/// Calls body(device, type) for every device and type. Every device computes linear algebra of
/// small matrices on the CPU, so a slow build leaves out the others.
inline void for_each_type(const std::function<void(Device, DType)>& body) {
  for (Device device : KAISEKI_SLOW ? std::vector{Device::cpu()} : all_devices())
    for (DType type : real_types(device)) {
      CAPTURE(device.name());
      CAPTURE(dtype_name(type));
      body(device, type);
    }
}

}  // namespace kaiseki::test
