// SPDX-License-Identifier: MIT
// Checks of all estimators with unusual input. They cover errors for bad shapes and values, views
// with any strides, other devices, negative labels, and constant features. `make` returns a new
// estimator.
#pragma once

#include <limits>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

namespace kaiseki::test {

/// The elements of a small x [n, 4] whose second column is constant.
inline MlSet edge_set(int64_t rows) {
  MlSet set = blobs_set(rows, 4, 2, 50);
  std::vector<double> x;
  for (float value : set.x.to_vector()) x.push_back(x.size() % 4 == 1 ? 7.5 : value);
  return {floats(x, {rows, 4}), set.y};
}

/// Views with the elements of x [n, features]: transposed, with steps, reversed, in wider rows.
inline std::vector<Tensor> strided_views(const Tensor& x) {
  const int64_t n = x.dim(0), features = x.dim(1);
  Tensor stepped = Tensor::zeros({2 * n, 3 * features}, x.dtype(), x.device());
  Tensor even = stepped(Slice(0, 2 * n, 2), Slice(0, 3 * features, 3));
  copy_into(even, x);
  Tensor wide = Tensor::zeros({n, features + 5}, x.dtype(), x.device());
  Tensor inner = wide(All, Slice(2, 2 + features));
  copy_into(inner, x);
  Tensor backwards = x.clone();
  Tensor reversed = backwards(Slice({}, {}, -1), All);
  copy_into(reversed, x);
  return {x.transpose().clone().transpose(), even, inner, reversed};
}

/// The elements of f32 or i32.
inline std::vector<double> wide_values(const Tensor& x) {
  if (x.dtype() == DType::i32) {
    const std::vector<int32_t> values = x.to_vector<int32_t>();
    return {values.begin(), values.end()};
  }
  const std::vector<float> values = x.to_vector();
  return {values.begin(), values.end()};
}

/// fit(x) and apply(x) must refuse these.
template <typename Fit>
void check_bad_samples(const Fit& fit) {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(fit(Tensor()), ShapeError);
  CHECK_THROWS_AS(fit(floats({}, {0, 4})), ShapeError);
  CHECK_THROWS_AS(fit(floats({}, {4, 0})), ShapeError);
  CHECK_THROWS_AS(fit(floats({1, 2, 3, 4}, {4})), ShapeError);
  CHECK_THROWS_AS(fit(floats({1, 2, 3, 4}, {4, 1, 1})), ShapeError);
  CHECK_THROWS_AS(fit(integers({1, 2, 3, 4}, {4, 1})), ShapeError);
  for (double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()})
    for (size_t position : {0, 6, 15}) {
      std::vector<double> values(16, 1.0);
      values[position] = bad;
      CHECK_THROWS_AS(fit(floats(values, {4, 4})), ShapeError);
    }
}

/// The checks that classifiers and regressors share. The labels or targets are `set.y`.
template <typename Make>
void check_estimator_edges(const Make& make, const MlSet& set) {
  const int64_t n = set.x.dim(0);
  CHECK_THROWS_AS(make().predict(set.x), ShapeError);
  CHECK_THROWS_AS(make().score(set.x, set.y), ShapeError);
  check_bad_samples([&](const Tensor& x) {
    make().fit(x, set.y.slice(0, 0, x.defined() && x.rank() > 0 ? x.dim(0) : 1));
  });
  CHECK_THROWS_AS(make().fit(set.x, Tensor()), ShapeError);
  CHECK_THROWS_AS(make().fit(set.x, set.y.slice(0, 0, n - 1)), ShapeError);
  CHECK_THROWS_AS(make().fit(set.x, set.y.reshape({n, 1, 1})), ShapeError);
  auto model = make();
  model.fit(set.x, set.y);
  const std::vector<double> weights = wide_values(model.coefficients());
  const Tensor predicted = model.predict(set.x);
  const double score = model.score(set.x, set.y);
  for (double w : weights) CHECK(std::isfinite(w));
  CHECK(std::isfinite(score));
  check_bad_samples([&](const Tensor& x) { model.predict(x); });
  CHECK_THROWS_AS(model.predict(set.x(All, Slice(0, 3))), ShapeError);
  CHECK_THROWS_AS(model.score(set.x, set.y.slice(0, 0, n - 1)), ShapeError);
  // A fit that fails leaves the model as it was.
  CHECK_THROWS_AS(model.fit(set.x, Tensor()), ShapeError);
  CHECK(wide_values(model.coefficients()) == weights);
  CHECK(model.predict(set.x.slice(0, 0, 1)).shape() == Shape{1});
  CHECK(difference(wide_values(model.predict(set.x.slice(0, 0, 1))), {predicted(0)}) < 1e-6);
  for (const Tensor& view : strided_views(set.x)) {
    auto strided = make();
    strided.fit(view, set.y);
    CHECK(wide_values(strided.coefficients()) == weights);
    CHECK(wide_values(strided.predict(view)) == wide_values(predicted));
  }
  for (Device device : all_devices()) {
    const MlSet there = set.to(device);
    auto other = make();
    other.fit(there.x, there.y);
    CHECK(other.coefficients().device() == device);
    CHECK(difference(other.coefficients(), weights) < 1e-3);
    CHECK(other.score(there.x, there.y) == doctest::Approx(score).epsilon(1e-3));
    for (const Tensor& view : strided_views(there.x))
      CHECK(wide_values(other.predict(view)) == wide_values(other.predict(there.x)));
    CHECK(model.predict(there.x).device() == device);
  }
}

template <typename Make>
void check_classifier_edges(const Make& make) {
  MlSet set = edge_set(60);
  check_estimator_edges(make, set);
  const Tensor one = set.x.slice(0, 0, 1);
  CHECK_THROWS_AS(make().fit(one, integers({3}, {1})), ShapeError);
  CHECK_THROWS_AS(make().fit(set.x, integers(std::vector<double>(60, -1.0), {60})), ShapeError);
  CHECK_THROWS_AS(make().fit(set.x, floats(std::vector<double>(60, 1.0), {60})), ShapeError);
  auto plain = make(), negative = make();
  plain.fit(set.x, set.y);
  std::vector<int32_t> labels = set.y.to_vector<int32_t>();
  for (int32_t& label : labels) label = label == 0 ? std::numeric_limits<int32_t>::min() : -3;
  const Tensor y = Tensor::from(std::span<const int32_t>(labels), {60}, Device::cpu());
  negative.fit(set.x, y);
  CHECK(negative.classes() == std::vector<int32_t>{std::numeric_limits<int32_t>::min(), -3});
  CHECK(wide_values(negative.coefficients()) == wide_values(plain.coefficients()));
  CHECK(negative.score(set.x, y) == plain.score(set.x, set.y));
}

template <typename Make>
void check_regressor_edges(const Make& make) {
  MlSet set = edge_set(60);
  set.y = floats(wide_values(regression_set(60, 4, 1, 3).y), {60});
  check_estimator_edges(make, set);
  for (double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> y(60, 1.0);
    y[59] = bad;
    CHECK_THROWS_AS(make().fit(set.x, floats(y, {60})), ShapeError);
  }
  CHECK_THROWS_AS(make().fit(set.x, integers(std::vector<double>(60, 1.0), {60})), ShapeError);
  // One sample, and targets that are all equal.
  auto one = make(), flat = make();
  one.fit(floats({1, 2}, {1, 2}), floats({3}, {1}));
  CHECK(std::isfinite(one.predict(floats({5, 6}, {1, 2}))(0)));
  flat.fit(set.x, floats(std::vector<double>(60, 2.0), {60}));
  CHECK(difference(flat.predict(set.x), std::vector<double>(60, 2.0)) < 0.1);
}

}  // namespace kaiseki::test
