// SPDX-License-Identifier: MIT
#include "ml/decomposition/cca.h"

#include <numeric>
#include <span>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::CCA;

namespace {

Doubles columns_of(const Tensor& t) { return doubles(t.transpose().contiguous()); }

}  // namespace

TEST_CASE("CCA: the results of scikit-learn") {
  const MlCases cases("decomposition.txt");
  for (const std::string name :
       {"iris.scaled", "iris.plain", "cancer.scaled", "digits.scaled", "digits.plain"}) {
    CAPTURE(name);
    const MlSet data = ml_set(name.substr(0, name.find('.')));
    const auto expected = [&](const char* what) {
      return cases["cca." + name + "." + what].values;
    };
    const bool iris = data.x.dim(1) == 4;
    const int64_t split = iris ? 2 : data.x.dim(1) == 64 ? 32 : 20, count = iris ? 2 : 3;
    const Tensor x = data.x(All, Slice(0, split)), y = data.x(All, Slice(split, {}));
    CCA model({.n_components = count, .scale = name.ends_with(".scaled")});
    model.fit(x, y);
    // The smallest weights of breast cancer come from nearly dependent features.
    check_close(columns_of(model.x_weights()), expected("x_weights"), 0, 1e-4);
    check_close(columns_of(model.y_weights()), expected("y_weights"), 0, 1e-4);
    check_close(columns_of(model.x_loadings()), expected("x_loadings"), 1e-4, 1e-4);
    check_close(columns_of(model.x_rotations()), expected("x_rotations"), 1e-4, 1e-4);
    const CCA::Scores scores = model.transform(x.slice(0, 0, 6), y.slice(0, 0, 6));
    check_close(columns_of(scores.x), expected("x_scores"), 1e-4, 1e-4);
    check_close(columns_of(scores.y), expected("y_scores"), 1e-4, 1e-4);
    check_close(doubles(model.predict(x.slice(0, 0, 6))), expected("predicted"), 1e-4, 1e-4);
    CHECK(model.score(x, y) == doctest::Approx(expected("score")[0]).epsilon(1e-4));
  }
}

TEST_CASE("CCA: loadings and rotations of y, from plain loops and the scores of scikit-learn") {
  const MlCases cases("decomposition.txt");
  for (const std::string name : {"iris", "cancer"}) {
    CAPTURE(name);
    const MlSet data = ml_set(name);
    const int64_t split = name == "iris" ? 2 : 20, count = name == "iris" ? 2 : 3;
    const Tensor x = data.x(All, Slice(0, split)), y = data.x(All, Slice(split, {}));
    CCA model({.n_components = count});
    model.fit(x, y);
    const size_t n = y.dim(0), q = y.dim(1), components = count;
    Doubles z = columns_of(y);  // centered and scaled, one feature after the other
    for (size_t j = 0; j < q; ++j) {
      const std::span<double> feature(&z[j * n], n);
      const double mean = std::accumulate(feature.begin(), feature.end(), 0.0) / double(n);
      double squares = 0;
      for (const double value : feature) squares += (value - mean) * (value - mean);
      for (double& value : feature) value = (value - mean) / std::sqrt(squares / double(n - 1));
    }
    // The scores are z times the rotations. The loadings are least squares of z on the scores.
    const Doubles rotations = columns_of(model.y_rotations());
    Doubles scores(components * n), loadings(components * q), first;
    for (size_t c = 0; c < components; ++c) {
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < q; ++j) scores[c * n + i] += z[j * n + i] * rotations[c * q + j];
      const double* t = &scores[c * n];
      const double square = std::inner_product(t, t + n, t, 0.0);
      for (size_t j = 0; j < q; ++j)
        loadings[c * q + j] = std::inner_product(t, t + n, &z[j * n], 0.0) / square;
      first.insert(first.end(), t, t + 6);
    }
    check_close(first, cases["cca." + name + ".scaled.y_scores"].values, 1e-4, 1e-4);
    check_close(columns_of(model.y_loadings()), loadings, 1e-4, 1e-4);
  }
}

TEST_CASE("CCA: correlations of the scores, in descending order") {
  const MlSet data = ml_set("iris");
  const Tensor x = data.x(All, Slice(0, 2)), y = data.x(All, Slice(2, 4));
  CCA model;
  model.fit(x, y);
  const CCA::Scores scores = model.transform(x, y);
  const Doubles a = columns_of(scores.x), b = columns_of(scores.y);
  for (size_t c = 0; c < 2; ++c) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = c * 150; i < c * 150 + 150; ++i)
      ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    CHECK(model.correlations()(static_cast<int64_t>(c)) ==
          doctest::Approx(ab / std::sqrt(aa * bb)).epsilon(1e-4));
  }
  CHECK(model.correlations()(0) >= model.correlations()(1));
}

TEST_CASE("CCA: y of rank 1, a constant feature, and every device") {
  const Tensor x = random_tensor({80, 3}, 1);
  std::vector<float> values = x.to_vector(), target;
  for (size_t i = 0; i < 80; ++i) {
    values[i * 3 + 2] = 5;
    target.push_back(2 * values[i * 3] - values[i * 3 + 1]);
  }
  for (const Device device : all_devices()) {
    const Tensor there = Tensor::from(std::span<const float>(values), {80, 3}, device);
    CCA model({.n_components = 1});
    model.fit(there, Tensor::from(std::span<const float>(target), {80}, device));
    CHECK(model.correlations()(0) == doctest::Approx(1).epsilon(1e-4));
    CHECK(std::abs(model.x_weights()(2, 0)) < 1e-4);
    CHECK(model.transform(there).device() == device);
    const Tensor predicted = model.predict(there);
    CHECK(predicted.device() == device);
    CHECK(predicted.shape() == Shape{80});
    for (int64_t i = 0; i < 80; ++i)
      CHECK(std::abs(predicted(i) - target[static_cast<size_t>(i)]) < 1e-3);
  }
}

TEST_CASE("CCA: errors") {
  CHECK_THROWS_AS(CCA({.n_components = 0}), Error);
  CCA model({.n_components = 2});
  const Tensor x = random_tensor({10, 3}, 1), y = random_tensor({10, 2}, 2);
  CHECK_THROWS_AS(model.transform(x), Error);
  CHECK_THROWS_AS(model.predict(x), Error);
  CHECK_THROWS_AS(model.x_weights(), Error);
  CHECK_THROWS_AS(model.fit(x, random_tensor({9, 2}, 3)), ShapeError);
  CHECK_THROWS_AS(model.fit(x, random_tensor({10, 1}, 3)), ShapeError);
  CHECK_THROWS_AS(model.fit(x.slice(0, 0, 1), y.slice(0, 0, 1)), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::full({10, 3}, 2), y), Error);
  model.fit(x, y);
  CHECK_THROWS_AS(model.transform(random_tensor({4, 2}, 3)), ShapeError);
  CHECK_THROWS_AS(model.predict(random_tensor({4, 2}, 3)), ShapeError);
  CHECK_THROWS_AS(model.transform(x, x), ShapeError);
}
