// SPDX-License-Identifier: MIT
#include "ml/naive_bayes/gaussian_nb.h"

#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::GaussianNB;

namespace {

Tensor labels_of(const std::vector<double>& values) {
  return integers(values, {static_cast<int64_t>(values.size())});
}

}  // namespace

TEST_CASE("GaussianNB: the results of scikit-learn, at once and in parts, on every device") {
  const MlCases cases("naive_bayes.txt");
  for (const Device device : all_devices())
    for (const std::string name : {"iris", "cancer", "digits"}) {
      CAPTURE(name);
      const auto expected = [&](const char* what) {
        return cases[name + ".gaussian." + what].values;
      };
      const MlSet data = ml_set(name).to(device);
      GaussianNB model;
      model.fit(data.x, data.y);
      check_close(model.theta(), expected("theta"), 1e-5, 1e-6);
      check_close(model.var(), expected("var"), 1e-4, 1e-9);
      check_close(model.class_prior(), expected("prior"), 1e-5);
      // In digits, f32 cannot tell classes apart of which all have impossible pixels.
      const double tolerance = name == "digits" ? 0.01 : 1e-6;
      CHECK(std::abs(model.score(data.x, data.y) - expected("accuracy")[0]) <= tolerance);
      if (name != "digits")
        check_close(model.predict_proba(data.x(Slice({}, {}, 25))), expected("proba"), 0, 2e-3);
      GaussianNB parts;
      for (int64_t begin = 0; begin < data.x.dim(0); begin += 70) {
        const int64_t rows = std::min<int64_t>(70, data.x.dim(0) - begin);
        parts.partial_fit(data.x.slice(0, begin, rows), data.y.slice(0, begin, rows),
                          begin == 0 ? model.classes() : std::vector<int32_t>{});
      }
      check_close(parts.theta(), expected("theta"), 1e-4, 1e-5);
      check_close(parts.var(), expected("var"), 1e-3, 1e-6);
    }
}

TEST_CASE("GaussianNB: any labels, priors, and the logarithms") {
  const Tensor x{{0}, {1}, {10}, {11}};
  GaussianNB model({.priors = {0.25, 0.75}});
  model.fit(x, labels_of({40, 40, -7, -7}));
  CHECK(model.classes() == std::vector<int32_t>{-7, 40});
  check_close(model.predict(Tensor{{0.2f}, {10.9f}}), {40, -7}, 0);
  check_close(model.class_prior(), {0.25, 0.75}, 1e-6);
  check_close(model.class_count(), {2, 2}, 0);
  const Doubles logarithms = doubles(model.predict_log_proba(x)),
                proba = doubles(model.predict_proba(x));
  for (size_t i = 0; i < 8; ++i)
    CHECK(std::exp(logarithms[i]) == doctest::Approx(proba[i]).epsilon(1e-5));
}

TEST_CASE("GaussianNB: one class, constant features, and a class without samples") {
  GaussianNB one;
  one.fit(Tensor{{1, 2}, {1, 2}}, labels_of({5, 5}));
  check_close(one.predict(Tensor{{9, 9}}), {5}, 0);
  check_close(one.predict_proba(Tensor{{9, 9}}), {1}, 0);
  GaussianNB missing;
  missing.partial_fit(Tensor{{1}, {2}}, labels_of({0, 0}), {0, 1});
  check_close(missing.predict(Tensor{{50}}), {0}, 0);
  missing.partial_fit(Tensor{{60}, {61}}, labels_of({1, 1}));
  check_close(missing.predict(Tensor{{50}, {2}}), {1, 0}, 0);
}

TEST_CASE("GaussianNB: errors") {
  CHECK_THROWS_AS(GaussianNB({.var_smoothing = 0}), Error);
  GaussianNB model;
  const Tensor x{{1}, {2}};
  CHECK_THROWS_AS(model.predict(x), Error);
  CHECK_THROWS_AS(model.classes(), Error);
  CHECK_THROWS_AS(model.fit(x, labels_of({1})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, Tensor::zeros({2})), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 2})), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 2}), {1, 1, 2}), ShapeError);
  CHECK_THROWS_AS(
      model.fit(Tensor{{1}, {std::numeric_limits<float>::quiet_NaN()}}, labels_of({1, 2})), Error);
  CHECK_THROWS_AS(GaussianNB({.priors = {0.5}}).fit(x, labels_of({1, 2})), Error);
  CHECK_THROWS_AS(GaussianNB({.priors = {0.5, 0.6}}).fit(x, labels_of({1, 2})), Error);
  model.fit(x, labels_of({1, 2}));
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2}}), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 3})), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 2}), {1, 3}), ShapeError);
}
