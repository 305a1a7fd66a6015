// SPDX-License-Identifier: MIT
#include "ml/linear/linear_system.h"

#include <algorithm>
#include <cmath>

#include "matrix/ceil_div.h"
#include "matrix/linalg/factor_cholesky.h"
#include "matrix/linalg/factor_qr.h"
#include "matrix/linalg/least_squares.h"
#include "matrix/linalg/triangular.h"
#include "matrix/threads.h"
#include "ml/moments.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

using linalg::MatrixView;

// Up to this number of columns, threads work on different rows. Above it, they share each product.
constexpr int64_t kNarrow = 128;
constexpr int64_t kPiece = 16384;  // rows of a thread
constexpr int64_t kBlock = 512;    // rows that are double at a time
// The smallest pivot of a Gram matrix with a diagonal of 1 that leaves enough digits. The error of
// the solution is about 1e-16 / kSmallestPivot^2.
constexpr double kSmallestPivot = 1e-3;

/// The rows begin..end of [x y] without means.
void fill_rows(const RegressionData& data, int64_t begin, const MatrixView<double>& block) {
  parallel_for(block.rows, 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double* to = block.row(i);
      const float *x = data.x_row(begin + i), *y = data.y_row(begin + i);
      for (int64_t j = 0; j < data.features; ++j) to[j] = x[j] - data.x_mean[j];
      for (int64_t j = 0; j < data.outputs; ++j) to[data.features + j] = y[j] - data.y_mean[j];
    }
  });
}

/// Subtracts the Gram matrix of rows begin..end.
void subtract_rows(const RegressionData& data, int64_t begin, int64_t end,
                   const MatrixView<double>& gram) {
  DoubleMatrix block(std::min(kBlock, end - begin), data.columns());
  for (int64_t first = begin; first < end; first += kBlock) {
    const auto part = block.view().block(0, 0, std::min(kBlock, end - first), data.columns());
    fill_rows(data, first, part);
    linalg::subtract_gram(part, gram);
  }
}

/// The lower triangle of R^T, before and after more rows join.
class RowsJoiner {
 public:
  explicit RowsJoiner(int64_t columns)
      : columns_(columns),
        height_(columns + std::max<int64_t>(4 * columns, 256)),
        transposed_(columns, height_) {}

  int64_t room() const { return height_ - columns_; }

  /// fill(i, j) is element (i, j) of `rows` more rows. There is room() for them.
  template <typename Fill>
  void join(int64_t rows, const Fill& fill) {
    const auto t = transposed_.view().block(0, 0, columns_, columns_ + rows);
    parallel_for(columns_, 16, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        for (int64_t i = 0; i < rows; ++i) t(j, columns_ + i) = fill(i, j);
    });
    linalg::QrFactors<double> factors(t);
    for (int64_t j = 0; j < columns_; ++j)
      std::fill(t.row(j) + j + 1, t.row(j) + columns_ + rows, 0.0);
  }

  double r(int64_t i, int64_t j) { return i <= j ? transposed_.view()(j, i) : 0; }

 private:
  int64_t columns_, height_;
  DoubleMatrix transposed_;
};

void join_rows(const RegressionData& data, int64_t begin, int64_t end, RowsJoiner& joiner) {
  for (int64_t first = begin; first < end; first += joiner.room())
    joiner.join(std::min(joiner.room(), end - first),
                [&](int64_t i, int64_t j) { return data.centered(first + i, j); });
}

/// w^T from the right sides [features, outputs] that became solutions.
std::vector<double> transposed_solution(const MatrixView<double>& w) {
  std::vector<double> result(static_cast<size_t>(w.rows * w.columns));
  for (int64_t j = 0; j < w.rows; ++j)
    for (int64_t o = 0; o < w.columns; ++o) result[o * w.rows + j] = w(j, o);
  return result;
}

/// Solves U^T U x = b for the factor of factor_cholesky().
void solve_factored(const MatrixView<double>& u, const MatrixView<double>& b) {
  linalg::solve_triangular(linalg::Triangle<double>{u, true, false, false}, b);
  linalg::solve_triangular(linalg::Triangle<double>{u, false, true, false}, b);
}

}  // namespace

RegressionData::RegressionData(const Tensor& x_in, const Tensor& y_in, bool fit_intercept)
    : x(on_host(x_in)),
      y(on_host(y_in)),
      samples(x.dim(0)),
      features(x.dim(1)),
      outputs(y.size() / samples),
      x_mean(static_cast<size_t>(features)),
      y_mean(static_cast<size_t>(outputs)),
      x_(x.data<float>()),
      y_(y.data<float>()) {
  if (!fit_intercept) return;
  x_mean = column_moments(x).mean;
  y_mean = column_moments(y.reshape({samples, outputs})).mean;
}

DoubleMatrix gram_matrix(const RegressionData& data) {
  const int64_t size = data.columns();
  DoubleMatrix gram(size, size);
  if (size > kNarrow) {
    subtract_rows(data, 0, data.samples, gram.view());
  } else {
    std::vector<DoubleMatrix> pieces(static_cast<size_t>(ceil_div(data.samples, kPiece)),
                                     DoubleMatrix(size, size));
    parallel_for(data.samples, kPiece, [&](int64_t begin, int64_t end) {
      subtract_rows(data, begin, end, pieces[static_cast<size_t>(begin / kPiece)].view());
    });
    for (DoubleMatrix& piece : pieces)
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = i; j < size; ++j) gram.view()(i, j) += piece.view()(i, j);
  }
  const auto g = gram.view();
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = i; j < size; ++j) g(j, i) = g(i, j) = -g(i, j);
  return gram;
}

DoubleMatrix triangular_factor(const RegressionData& data, double penalty) {
  const int64_t size = data.columns();
  RowsJoiner all(size);
  if (size > kNarrow) {
    join_rows(data, 0, data.samples, all);
  } else {
    std::vector<RowsJoiner> pieces(static_cast<size_t>(ceil_div(data.samples, kPiece)),
                                   RowsJoiner(size));
    parallel_for(data.samples, kPiece, [&](int64_t begin, int64_t end) {
      join_rows(data, begin, end, pieces[static_cast<size_t>(begin / kPiece)]);
    });
    for (RowsJoiner& piece : pieces)
      all.join(size, [&](int64_t i, int64_t j) { return piece.r(i, j); });
  }
  if (penalty > 0) {
    const double root = std::sqrt(penalty);
    all.join(data.features, [&](int64_t i, int64_t j) { return i == j ? root : 0; });
  }
  DoubleMatrix r(size, size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = i; j < size; ++j) r.view()(i, j) = all.r(i, j);
  return r;
}

std::optional<std::vector<double>> solve_by_cholesky(const RegressionData& data, double penalty) {
  const int64_t d = data.features;
  DoubleMatrix gram = gram_matrix(data);
  const auto g = gram.view().block(0, 0, d, d);
  const auto w = gram.view().block(0, d, d, data.outputs);
  // Columns of norm 1 make the pivots comparable.
  std::vector<double> scale(static_cast<size_t>(d));
  for (int64_t j = 0; j < d; ++j) {
    g(j, j) += penalty;
    if (!(g(j, j) > 0)) return {};
    scale[j] = 1 / std::sqrt(g(j, j));
  }
  for (int64_t i = 0; i < d; ++i) {
    for (int64_t j = 0; j < d; ++j) g(i, j) *= scale[i] * scale[j];
    for (int64_t o = 0; o < data.outputs; ++o) w(i, o) *= scale[i];
  }
  DoubleMatrix factor(d, d);
  linalg::copy_matrix_into(factor.view(), g);
  if (linalg::factor_cholesky(factor.view())) return {};
  for (int64_t j = 0; j < d; ++j)
    if (factor.view()(j, j) < kSmallestPivot) return {};
  solve_factored(factor.view(), w);
  for (int64_t i = 0; i < d; ++i)
    for (int64_t o = 0; o < data.outputs; ++o) w(i, o) *= scale[i];
  return transposed_solution(w);
}

std::optional<std::vector<double>> solve_by_rows(const RegressionData& data, double penalty) {
  const int64_t n = data.samples, d = data.features;
  DoubleMatrix products(n, n), duals(n, data.outputs), weights(d, data.outputs);
  const auto k = products.view(), a = duals.view(), w = weights.view();
  for (int64_t first = 0; first < d; first += kBlock) {
    DoubleMatrix block(std::min(kBlock, d - first), n);
    const auto b = block.view();
    for (int64_t j = 0; j < b.rows; ++j)
      for (int64_t i = 0; i < n; ++i) b(j, i) = data.centered(i, first + j);
    linalg::subtract_gram(b, k);
  }
  double mean_pivot = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) k(i, j) = -k(i, j);
    k(i, i) += penalty;
    mean_pivot += k(i, i) / static_cast<double>(n);
    for (int64_t o = 0; o < data.outputs; ++o) a(i, o) = data.centered(i, d + o);
  }
  // The penalty bounds the smallest eigenvalue.
  if (penalty < kSmallestPivot * kSmallestPivot * mean_pivot) return {};
  if (linalg::factor_cholesky(k)) return {};
  solve_factored(k, a);
  parallel_for(d, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = begin; j < end; ++j)
        for (int64_t o = 0; o < data.outputs; ++o) w(j, o) += data.centered(i, j) * a(i, o);
  });
  return transposed_solution(w);
}

std::vector<double> solve_by_qr(const RegressionData& data, double penalty) {
  const int64_t d = data.features;
  DoubleMatrix factor = triangular_factor(data, penalty);
  const auto r = factor.view().block(0, 0, d, d);
  const auto w = factor.view().block(0, d, d, data.outputs);
  bool determined = true;
  for (int64_t j = 0; j < d; ++j) {
    double norm = 0;
    for (int64_t i = 0; i <= j; ++i) norm += r(i, j) * r(i, j);
    determined = determined && std::abs(r(j, j)) > 1e-10 * std::sqrt(norm);
  }
  if (determined) {
    linalg::solve_triangular(linalg::Triangle<double>{r, false, true, false}, w);
    return transposed_solution(w);
  }
  Tensor a({d, d}, DType::f64, Device::cpu()), b({d, data.outputs}, DType::f64, Device::cpu());
  linalg::copy_matrix_into(MatrixView<double>{a.overwrite<double>(), d, d, d}, r);
  linalg::copy_matrix_into(MatrixView<double>{b.overwrite<double>(), d, data.outputs, data.outputs},
                           w);
  // Centering leaves errors of rounding in columns that depend on others.
  const double cutoff = static_cast<double>(std::max(data.samples, d)) * 1e-15;
  Tensor x = lstsq(a, b, cutoff).x;
  return transposed_solution(
      MatrixView<double>{x.mutable_data<double>(), d, data.outputs, data.outputs});
}

std::vector<double> intercepts(const RegressionData& data, const std::vector<double>& weights) {
  std::vector<double> result = data.y_mean;
  for (int64_t o = 0; o < data.outputs; ++o)
    for (int64_t j = 0; j < data.features; ++j)
      result[o] -= weights[o * data.features + j] * data.x_mean[j];
  return result;
}

}  // namespace kaiseki::ml
