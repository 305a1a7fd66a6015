// SPDX-License-Identifier: MIT
#include "ml/decomposition/cca.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/linalg/eigh.h"
#include "matrix/linalg/solve.h"
#include "matrix/linalg/svd.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "ml/decomposition/gram.h"
#include "ml/draw.h"
#include "ml/metrics/regression.h"
#include "ml/moments.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kFit = "CCA::fit";
// Smaller eigenvalues of a covariance, relative to the largest one, are errors of rounding.
constexpr double kCutoff = 1e-12;

using Vector = std::vector<double>;

/// A row-major matrix on the host, small enough for plain loops in the deflation.
struct Small {
  int64_t rows = 0, columns = 0;
  Vector values;

  Small(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  explicit Small(const Tensor& t)
      : rows(t.dim(0)), columns(t.dim(1)), values(t.to_vector<double>()) {}
  double& operator()(int64_t i, int64_t j) { return values[i * columns + j]; }
  double operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
  Tensor tensor() const { return f64_tensor(values, {rows, columns}); }
};

/// The inverse square root of a covariance, 0 along directions without variance.
Small inverse_root(const Small& covariance) {
  const EighResult parts = eigh(covariance.tensor());
  const int64_t n = covariance.rows;
  const double *values = parts.values.data<double>(), *vectors = parts.vectors.data<double>();
  Small scaled(n, n);
  for (int64_t k = 0; k < n; ++k) {
    if (!(values[k] > kCutoff * values[n - 1])) continue;
    const double scale = std::pow(values[k], -0.25);
    for (int64_t i = 0; i < n; ++i) scaled(i, k) = vectors[i * n + k] * scale;
  }
  return Small(matmul(scaled.tensor(), scaled.tensor(), false, true));
}

Vector times(const Small& a, const Vector& x) {
  Vector y(static_cast<size_t>(a.rows));
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) y[i] += a(i, j) * x[j];
  return y;
}

Vector times_transposed(const Small& a, const Vector& x) {
  Vector y(static_cast<size_t>(a.columns));
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) y[j] += a(i, j) * x[i];
  return y;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void normalize(Vector& a) {
  const double norm = std::sqrt(dot(a, a));
  for (double& value : a) value /= norm;
}

/// a = (I - w p^T)^T a (I - v q^T), for the products a of x and y that lose the scores x w and y v.
void deflate(Small& a, const Vector& w, const Vector& p, const Vector& v, const Vector& q) {
  const Vector left = times_transposed(a, w);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a(i, j) -= p[i] * left[j];
  const Vector right = times(a, v);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a(i, j) -= right[i] * q[j];
}

void set_column(Small& a, int64_t j, const Vector& values) {
  for (int64_t i = 0; i < a.rows; ++i) a(i, j) = values[i];
}

struct Joint {
  Small xx, xy, yy;
};

/// The products of both sides, scaled.
Joint joint_products(const Tensor& x, const Tensor& y, const Vector& mean_x, const Vector& mean_y,
                     bool scale, Vector& scale_x, Vector& scale_y) {
  const int64_t p = x.dim(1), q = y.dim(1);
  Vector mean = mean_x;
  mean.insert(mean.end(), mean_y.begin(), mean_y.end());
  Tensor gram = Tensor::zeros({p + q, p + q}, DType::f64, Device::cpu());
  double* sums = gram.mutable_data<double>();
  const int64_t step = rows_per_block(p + q);
  for (int64_t begin = 0; begin < x.dim(0); begin += step) {
    const int64_t rows = std::min(step, x.dim(0) - begin);
    const Tensor parts[] = {x.slice(0, begin, rows), y.slice(0, begin, rows)};
    const Tensor block = centered_gram(concatenate(parts, 1), mean);
    const double* add = block.data<double>();
    for (int64_t i = 0; i < gram.size(); ++i) sums[i] += add[i];
  }
  Vector deviations;
  for (int64_t j = 0; j < p + q; ++j) {
    const double variance = sums[j * (p + q) + j] / static_cast<double>(x.dim(0) - 1);
    // The variance of a constant is only an error of rounding of its mean.
    const bool flat = variance <= 1e-20 * mean[j] * mean[j];
    deviations.push_back(scale && !flat ? std::sqrt(variance) : 1);
  }
  scale_x.assign(deviations.begin(), deviations.begin() + p);
  scale_y.assign(deviations.begin() + p, deviations.end());
  Joint joint{Small(p, p), Small(p, q), Small(q, q)};
  for (int64_t i = 0; i < p + q; ++i)
    for (int64_t j = 0; j < p + q; ++j) {
      const double value = sums[i * (p + q) + j] / (deviations[i] * deviations[j]);
      if (i < p && j < p) joint.xx(i, j) = value;
      if (i < p && j >= p) joint.xy(i, j - p) = value;
      if (i >= p && j >= p) joint.yy(i - p, j - p) = value;
    }
  return joint;
}

/// weights (loadings^T weights)^-1
Tensor rotations(const Small& weights, const Small& loadings) {
  const Tensor inner = matmul(loadings.tensor(), weights.tensor(), true);
  return matmul(weights.tensor(), inv(inner));
}

Tensor as_matrix(const Tensor& y) { return y.rank() == 1 ? y.contiguous().reshape({-1, 1}) : y; }

}  // namespace

CCA::CCA(CCAOptions options) : options_(options) {
  check_at_least(options_.n_components, 1, "n_components", "CCA");
}

void CCA::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kFit);
  check_targets(y, x, kFit);
  const Tensor left = x.contiguous(), right = as_matrix(y).contiguous();
  const int64_t n = x.dim(0), p = x.dim(1), q = right.dim(1), count = options_.n_components;
  require(n >= 2, kFit, "expected 2 samples or more, got ", n);
  require(count <= std::min({n, p, q}), kFit, "expected n_components from 1 to ",
          std::min({n, p, q}), " for x ", x.shape(), " and y ", y.shape(), ", got ", count);
  Side a, b;
  a.mean = column_means(left), b.mean = column_means(right);
  Joint joint = joint_products(left, right, a.mean, b.mean, options_.scale, a.scale, b.scale);
  Small weights_x(p, count), weights_y(q, count), loadings_x(p, count), loadings_y(q, count),
      coefficients(q, count);
  Vector correlations;
  for (int64_t c = 0; c < count; ++c) {
    const Small root_x = inverse_root(joint.xx), root_y = inverse_root(joint.yy);
    const SvdResult parts =
        svd(matmul(matmul(root_x.tensor(), joint.xy.tensor()), root_y.tensor()));
    Vector w = times(root_x, parts.u.slice(1, 0, 1).to_vector<double>());
    Vector v = times(root_y, parts.vt.slice(0, 0, 1).to_vector<double>());
    if (!(dot(w, w) > 0 && dot(v, v) > 0))
      throw Error(message(kFit, "x or y has no variance for component ", c,
                          "; expected a smaller n_components than ", count));
    normalize(w);
    normalize(v);
    const double largest = *std::max_element(
        w.begin(), w.end(), [](double s, double t) { return std::abs(s) < std::abs(t); });
    if (largest < 0) {
      for (double& value : w) value = -value;
      for (double& value : v) value = -value;
    }
    Vector loading_x = times(joint.xx, w), loading_y = times(joint.yy, v);
    const double square_x = dot(w, loading_x), square_y = dot(v, loading_y);
    correlations.push_back(dot(w, times(joint.xy, v)) / std::sqrt(square_x * square_y));
    Vector coefficient = times_transposed(joint.xy, w);
    for (double& value : coefficient) value /= square_x;
    set_column(coefficients, c, coefficient);
    for (double& value : loading_x) value /= square_x;
    for (double& value : loading_y) value /= square_y;
    deflate(joint.xx, w, loading_x, w, loading_x);
    deflate(joint.yy, v, loading_y, v, loading_y);
    deflate(joint.xy, w, loading_x, v, loading_y);
    set_column(weights_x, c, w), set_column(weights_y, c, v);
    set_column(loadings_x, c, loading_x), set_column(loadings_y, c, loading_y);
  }
  const auto narrow = [&](const Tensor& t) { return cast(t, DType::f32).to(x.device()); };
  a.weights = narrow(weights_x.tensor()), b.weights = narrow(weights_y.tensor());
  a.loadings = narrow(loadings_x.tensor()), b.loadings = narrow(loadings_y.tensor());
  a.rotations = narrow(rotations(weights_x, loadings_x));
  b.rotations = narrow(rotations(weights_y, loadings_y));
  x_ = std::move(a), y_ = std::move(b);
  flat_ = y.rank() == 1;
  coefficients_ = narrow(coefficients.tensor());
  correlations_ = tensor_from(correlations, {count}, x.device());
}

Tensor CCA::Side::apply(const Tensor& t, std::string_view name) const {
  check_fitted(rotations.defined(), name);
  const auto features = static_cast<int64_t>(mean.size());
  const Tensor samples = as_matrix(t);
  check_samples(samples, features, name);
  const Device device = t.device();
  const Tensor shift = tensor_from(mean, {features}, device);
  const Tensor divisor = tensor_from(scale, {features}, device), to = rotations.to(device);
  Tensor result({t.dim(0), to.dim(1)}, DType::f32, device);
  for_each_row_block(samples.contiguous(), [&](const Tensor& rows, int64_t begin) {
    Tensor out = result.slice(0, begin, rows.dim(0));
    gemm((rows - shift) / divisor, to, out);
  });
  return result;
}

Tensor CCA::transform(const Tensor& x) const { return x_.apply(x, "CCA::transform"); }

CCA::Scores CCA::transform(const Tensor& x, const Tensor& y) const {
  return {transform(x), y_.apply(y, "CCA::transform")};
}

Tensor CCA::predict(const Tensor& x) const {
  const Tensor scores = x_.apply(x, "CCA::predict");
  const Device device = x.device();
  const auto outputs = static_cast<int64_t>(y_.mean.size());
  const Tensor scaled = matmul(scores, coefficients_.to(device), false, true);
  const Tensor y =
      scaled * tensor_from(y_.scale, {outputs}, device) + tensor_from(y_.mean, {outputs}, device);
  return flat_ ? y.reshape({-1}) : y;
}

double CCA::score(const Tensor& x, const Tensor& y) const { return r2_score(y, predict(x)); }

const CCA::Side& CCA::fitted(const Side& side) const {
  check_fitted(side.weights.defined(), "CCA");
  return side;
}

const Tensor& CCA::x_weights() const { return fitted(x_).weights; }
const Tensor& CCA::y_weights() const { return fitted(y_).weights; }
const Tensor& CCA::x_loadings() const { return fitted(x_).loadings; }
const Tensor& CCA::y_loadings() const { return fitted(y_).loadings; }
const Tensor& CCA::x_rotations() const { return fitted(x_).rotations; }
const Tensor& CCA::y_rotations() const { return fitted(y_).rotations; }
const Tensor& CCA::correlations() const {
  check_fitted(correlations_.defined(), "CCA");
  return correlations_;
}

}  // namespace kaiseki::ml
