// SPDX-License-Identifier: MIT
#include "ml/online/confidence.h"

#include <limits>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

constexpr ConfidenceOptions kThreePasses{.max_iter = 3, .shuffle = false};

void check_confidence(ConfidenceClassifier&& model, const MlSet& set, const MlCases& cases,
                      const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-5);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-5);
  CHECK(difference(model.variances(), cases[name + ".variances"].values) < 1e-5);
}

}  // namespace

TEST_CASE("CW, SCW, AROW and NHERD: the formulas of their papers") {
  const MlCases cases("online.txt");
  for (const std::string name : {"blobs", "pairs"}) {
    const MlSet set = labeled_set(name);
    check_confidence(ConfidenceWeighted({.eta = 0.9, .common = kThreePasses}), set, cases,
                     name + ".cw.0.9");
    check_confidence(ConfidenceWeighted({.eta = 0.6, .common = kThreePasses}), set, cases,
                     name + ".cw.0.6");
    check_confidence(SoftConfidenceWeighted({.common = kThreePasses}), set, cases,
                     name + ".scw.0.9.1");
    check_confidence(SoftConfidenceWeighted({.c = 0.05, .common = kThreePasses}), set, cases,
                     name + ".scw.0.9.0.05");
    check_confidence(SoftConfidenceWeighted({.eta = 0.7, .common = kThreePasses}), set, cases,
                     name + ".scw.0.7.1");
    check_confidence(AROW({.r = 1, .common = kThreePasses}), set, cases, name + ".arow.1");
    check_confidence(AROW({.r = 0.1, .common = kThreePasses}), set, cases, name + ".arow.0.1");
    check_confidence(NHERD({.common = kThreePasses}), set, cases, name + ".nherd.0.1");
    check_confidence(NHERD({.c = 2, .common = kThreePasses}), set, cases, name + ".nherd.2");
  }
}

TEST_CASE("confidence_step: the margin that each paper demands holds after the step") {
  const double phi = normal_quantile(0.9), m = -0.4, v = 1.7;
  CHECK(phi == doctest::Approx(1.2815515655446));
  const ConfidenceStep cw = confidence_step({ConfidenceMethod::cw, phi}, m, v);
  // One feature x: its variance s = v / x^2, so the margin becomes m + a v.
  CHECK(m + cw.mean * v == doctest::Approx(phi * (1 / (1 / v + cw.precision))));
  const ConfidenceStep scw = confidence_step({ConfidenceMethod::scw1, phi, 1e9}, m, v);
  CHECK(m + scw.mean * v == doctest::Approx(phi * std::sqrt(v - scw.product * v * v)));
  CHECK(confidence_step({ConfidenceMethod::scw1, phi, 0.01}, m, v).mean == 0.01);
  for (ConfidenceMethod method : {ConfidenceMethod::cw, ConfidenceMethod::scw1,
                                  ConfidenceMethod::arow, ConfidenceMethod::nherd})
    CHECK(confidence_step({method, phi}, 100, v).mean == 0);
}

TEST_CASE("Tempura's fault: AROW and NHERD ignored C") {
  const Tensor x = floats({2}, {1, 1}), y = integers({1}, {1});
  const ConfidenceOptions common{.fit_intercept = false};
  for (double value : {0.1, 1.0, 5.0}) {
    AROW arow({.r = value, .common = common});
    arow.partial_fit(x, y, {-1, 1});
    CHECK(arow.coefficients()(0, 0) == doctest::Approx(2 / (4 + value)));
    NHERD nherd({.c = value, .common = common});
    nherd.partial_fit(x, y, {-1, 1});
    CHECK(nherd.coefficients()(0, 0) == doctest::Approx(2 / (4 + 1 / value)));
  }
}

TEST_CASE("confidence classifiers: seeds, threads, devices, and the last pass") {
  const MlSet set = labeled_set("digits");
  AROW first, again;
  first.fit(set.x, set.y);
  set_thread_count(3);
  again.fit(set.x, set.y);
  set_thread_count(0);
  CHECK(first.coefficients().to_vector() == again.coefficients().to_vector());
  CHECK(first.score(set.x, set.y) > 0.97);
  for (Device device : all_devices()) {
    NHERD model;
    const Tensor x = floats({-2, -1, 1, 2}, {4, 1}, device);
    const Tensor y = integers({8, 8, 9, 9}, {4}, device);
    model.fit(x, y);
    CHECK(model.score(x, y) == 1);
    CHECK(model.predict(x).device() == device);
  }
  SoftConfidenceWeighted easy;
  easy.fit(floats({-9, 9}, {2, 1}), integers({0, 1}, {2}));
  CHECK(easy.iterations() < 100);
}

TEST_CASE("confidence classifiers: errors") {
  const Tensor x = floats({1, 2}, {2, 1}), y = integers({0, 1}, {2});
  for (double eta : {0.5, 1.0, 0.2}) {
    CHECK_THROWS_AS(ConfidenceWeighted({.eta = eta}), ShapeError);
    CHECK_THROWS_AS(SoftConfidenceWeighted({.eta = eta}), ShapeError);
  }
  CHECK_THROWS_AS(SoftConfidenceWeighted({.c = 0}), ShapeError);
  CHECK_THROWS_AS(AROW({.r = 0}), ShapeError);
  CHECK_THROWS_AS(NHERD({.c = -1}), ShapeError);
  AROW model;
  CHECK_THROWS_AS(model.predict(x), ShapeError);
  CHECK_THROWS_AS(model.variances(), ShapeError);
  CHECK_THROWS_WITH_AS(model.fit(x, integers({3, 3}, {2})),
                       "[AROW] expected at least two classes, got 1", ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, y), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(model.fit(floats({1, nan}, {2, 1}), y), ShapeError);
  model.partial_fit(x, y, {0, 1});
  CHECK_THROWS_AS(model.partial_fit(x, integers({0, 2}, {2})), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(floats({1, 2}, {1, 2}), integers({0}, {1})), ShapeError);
}
