// SPDX-License-Identifier: MIT
#include "ml/linear/logistic_regression.h"

#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

LogisticRegressionOptions exact() {
  LogisticRegressionOptions options;
  options.tol = 1e-6;
  options.max_iter = 5000;
  return options;
}

void check_logistic(const LogisticRegressionOptions& options, const Tensor& x, const Tensor& y,
                    const MlCases& cases, const std::string& name) {
  CAPTURE(name);
  LogisticRegression model(options);
  model.fit(x, y);
  CHECK(model.converged());
  CHECK(difference(model.coefficients(), cases[name + ".w"].values) < 1e-4);
  CHECK(difference(model.intercept(), cases[name + ".b"].values) < 1e-4);
  CHECK(model.score(x, y) == doctest::Approx(cases[name + ".score"].values[0]).epsilon(0.002));
}

}  // namespace

TEST_CASE("LogisticRegression: equals scikit-learn's within 1e-4, for two and more classes") {
  const MlCases cases("linear.txt");
  for (const std::string name : {"iris", "digits", "cancer", "blobs", "pairs"}) {
    const MlSet set = labeled_set(name);
    check_logistic(exact(), set.x, set.y, cases, name + ".logistic");
    LogisticRegressionOptions strong = exact(), balanced = exact();
    strong.c = 0.05;
    check_logistic(strong, set.x, set.y, cases, name + ".logistic.c");
    balanced.class_weight.balanced = true;
    std::vector<int32_t> rare = set.y.to_vector<int32_t>();
    for (size_t i = 0; i < rare.size(); ++i)
      if (i % 5 != 0) rare[i] = rare[0];
    check_logistic(balanced, set.x,
                   Tensor::from(std::span<const int32_t>(rare), set.y.shape(), Device::cpu()),
                   cases, name + ".logistic.balanced");
    LogisticRegression model(exact());
    model.fit(set.x, set.y);
    const Tensor last = model.predict_proba(set.x.slice(0, set.x.dim(0) - 3, 3));
    CHECK(difference(last, cases[name + ".logistic.proba"].values) < 1e-4);
  }
}

TEST_CASE("LogisticRegression: on every device without a fallback, with any labels") {
  const MlSet blobs = labeled_set("blobs"), pairs = labeled_set("pairs");
  const MlCases cases("linear.txt");
  for_each_device([&](Device device) {
    for (const MlSet* set : {&blobs, &pairs}) {
      std::vector<int32_t> labels = set->y.to_vector<int32_t>();
      for (int32_t& label : labels) label = 10 * label - 7;
      const Tensor x = set->x.to(device);
      const Tensor y = Tensor::from(std::span<const int32_t>(labels), set->y.shape(), device);
      LogisticRegression model(exact());
      model.fit(x, y);
      CHECK(model.classes().front() == -7);
      CHECK(model.classes()[1] == 3);
      CHECK(difference(model.coefficients(),
                       cases[set == &blobs ? "blobs.logistic.w" : "pairs.logistic.w"].values) <
            1e-4);
      CHECK(model.predict(x).device() == device);
    }
  });
}

TEST_CASE("LogisticRegression: on a device, the transfers of an iteration do not grow with n") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    const auto bytes = [&](int64_t n, int64_t iterations) {
      const MlSet set = blobs_set(n, 6, 2, 3).to(device);
      LogisticRegression model({.max_iter = iterations, .tol = 0});
      const uint64_t before = transfer_count().to_host_bytes;
      model.fit(set.x, set.y);
      CHECK(model.iterations() == iterations);
      return transfer_count().to_host_bytes - before;
    };
    for (const int64_t n : {1000, 40000}) {
      bytes(n, 2);  // products of these shapes are measured once
      const uint64_t one = bytes(n, 3) - bytes(n, 2);
      CHECK(one > 0);
      // A few steps of the line search, each with 7 gradients and at most 64 sums of losses.
      CHECK(one < 4 * (7 + 64) * sizeof(float));
    }
  });
}

TEST_CASE("Tempura's fault: softmax overwrote its input, and predict returned probabilities") {
  const MlSet set = labeled_set("blobs");
  const std::vector<float> before = set.x.to_vector();
  LogisticRegression model;
  model.fit(set.x, set.y);
  model.predict_proba(set.x);
  CHECK(set.x.to_vector() == before);
  CHECK(model.predict(set.x).dtype() == DType::i32);
  CHECK(model.predict_proba(set.x).shape() == Shape{120, 3});
}

TEST_CASE("LogisticRegression: weights of classes by label, and separable data") {
  const MlSet set = labeled_set("pairs");
  LogisticRegressionOptions twice = exact(), scaled_c = exact();
  twice.class_weight.values = {{0, 2}, {1, 2}};
  scaled_c.c = 2;
  LogisticRegression a(twice), b(scaled_c);
  a.fit(set.x, set.y);
  b.fit(set.x, set.y);
  const std::vector<float> w = b.coefficients().to_vector();
  CHECK(difference(a.coefficients(), std::vector<double>(w.begin(), w.end())) < 1e-4);
  LogisticRegressionOptions free;
  free.penalty = LogisticPenalty::none;
  LogisticRegression separable(free);
  separable.fit(floats({-2, -1, 1, 2}, {4, 1}), integers({0, 0, 1, 1}, {4}));
  CHECK(separable.score(floats({-2, -1, 1, 2}, {4, 1}), integers({0, 0, 1, 1}, {4})) == 1);
  LogisticRegressionOptions origin = exact();
  origin.fit_intercept = false;
  LogisticRegression c(origin);
  c.fit(set.x, set.y);
  CHECK(c.intercept()(0) == 0);
}

TEST_CASE("LogisticRegression: errors") {
  const Tensor x = floats({1, 2, 3}, {3, 1}), y = integers({0, 1, 1}, {3});
  LogisticRegression model;
  CHECK_THROWS_WITH_AS(model.fit(x, integers({4, 4, 4}, {3})),
                       "[LogisticRegression] expected at least two classes, got 1", ShapeError);
  CHECK_THROWS_AS(model.predict(x), ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({0, 1, 1}, {3})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({0, 1}, {2})), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(model.fit(floats({1, nan, 3}, {3, 1}), y), ShapeError);
  LogisticRegressionOptions options;
  options.c = 0;
  CHECK_THROWS_AS(LogisticRegression{options}, ShapeError);
  options = {};
  options.class_weight.values = {{5, 1}};
  CHECK_THROWS_WITH_AS(LogisticRegression(options).fit(x, y),
                       "[LogisticRegression] expected class weights of known classes, got label 5",
                       ShapeError);
}
