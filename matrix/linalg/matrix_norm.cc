// SPDX-License-Identifier: MIT
#include "matrix/linalg/matrix_norm.h"

#include <cmath>

#include "matrix/linalg/batch.h"
#include "matrix/linalg/svd.h"

namespace kaiseki {
namespace {

using namespace linalg;

template <typename T>
double frobenius_norm(const MatrixView<const T>& a) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      largest = std::max(largest, std::abs(static_cast<double>(a(i, j))));
  if (largest == 0) return 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) {
      const double scaled = static_cast<double>(a(i, j)) / largest;
      sum += scaled * scaled;
    }
  return largest * std::sqrt(sum);
}

template <typename T>
double largest_row_sum(const MatrixView<const T>& a) {
  double largest = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < a.columns; ++j) sum += std::abs(static_cast<double>(a(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

template <typename T>
double largest_column_sum(const MatrixView<const T>& a) {
  std::vector<double> sums(static_cast<size_t>(a.columns));
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) sums[j] += std::abs(static_cast<double>(a(i, j)));
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// Sets each value [...] to of(matrix).
template <typename Of>
Tensor map_matrices(const Tensor& host, const Of& of) {
  Tensor result(batch_shape(host), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto matrices = read_matrices<T>(host);
    T* values = result.overwrite<T>();
    for_each_matrix(host, [&](int64_t i) { values[i] = static_cast<T>(of(matrices[i])); });
  });
  return result;
}

/// The largest singular value, or the sum of all.
Tensor spectral_norm(const Tensor& host, bool largest) {
  const Tensor s = svd(host).s;
  const int64_t k = s.dim(-1);
  Tensor result(batch_shape(host), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const T* from = s.data<T>();
    T* values = result.overwrite<T>();
    for (int64_t i = 0; i < result.size(); ++i) {
      double sum = 0;
      for (int64_t j = 0; j < (largest ? std::min<int64_t>(1, k) : k); ++j) sum += from[i * k + j];
      values[i] = static_cast<T>(sum);
    }
  });
  return result;
}

}  // namespace

Tensor matrix_norm(const Tensor& a, MatrixNorm kind) {
  const Tensor host = host_matrices(a, "matrix_norm");
  const auto norms = [&] {
    switch (kind) {
      case MatrixNorm::frobenius:
        return map_matrices(host, [](const auto& m) { return frobenius_norm(m); });
      case MatrixNorm::one:
        return map_matrices(host, [](const auto& m) { return largest_column_sum(m); });
      case MatrixNorm::infinity:
        return map_matrices(host, [](const auto& m) { return largest_row_sum(m); });
      case MatrixNorm::two:
        return spectral_norm(host, true);
      case MatrixNorm::nuclear:
        return spectral_norm(host, false);
    }
    throw ShapeError(message("matrix_norm", "unknown kind of norm"));
  };
  return norms().to(a.device());
}

Tensor trace(const Tensor& a) {
  return map_matrices(host_matrices(a, "trace"),
                      [](const auto& m) {
                        double sum = 0;
                        for (int64_t i = 0; i < std::min(m.rows, m.columns); ++i)
                          sum += static_cast<double>(m(i, i));
                        return sum;
                      })
      .to(a.device());
}

}  // namespace kaiseki
