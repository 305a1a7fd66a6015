// SPDX-License-Identifier: MIT
#include "ml/svm/svr.h"

#include <limits>

#include "base/error.h"
#include "tests/ml/svm/kernels.h"
#include "tests/support/devices.h"
#include "tests/support/real_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

MlSet named_set(const std::string& name) {
  return name == "tall" ? regression_set(80, 7, 1, 10) : real_targets(name);
}

}  // namespace

TEST_CASE("SVR: equals scikit-learn's within 1e-4, for each kernel") {
  const MlCases cases("svm.txt");
  for (const std::string name : {"tall", "iris", "digits", "cancer"}) {
    const MlSet set = named_set(name);
    for (const std::string& kernel : kernel_names())
      for (const std::string epsilon : {"0.1", "0.3"}) {
        const std::string key = name + ".svr." + kernel + "." + epsilon;
        CAPTURE(key);
        SVROptions options = kernel_case<SVROptions>(kernel);
        options.epsilon = std::stod(epsilon);
        SVR model(options);
        model.fit(set.x, set.y);
        CHECK(model.converged());
        CHECK(difference(model.predict(some_samples(set.x)), cases[key + ".predict"].values) <
              1e-4);
        CHECK(difference(model.intercept(), cases[key + ".b"].values) < 1e-4);
        CHECK(model.score(set.x, set.y) ==
              doctest::Approx(cases[key + ".score"].values[0]).epsilon(1e-4));
        CHECK(std::abs(static_cast<double>(model.support().size()) - cases[key + ".n"].values[0]) <=
              1);
      }
  }
}

TEST_CASE("SVR: on every device, with strided samples") {
  const MlSet set = named_set("tall");
  SVR expected({.tol = 1e-6});
  expected.fit(set.x, set.y);
  const std::vector<float> values = expected.predict(set.x).to_vector();
  for_each_device([&](Device device) {
    const Tensor x = set.x.transpose().contiguous().to(device).transpose();
    SVR model({.tol = 1e-6});
    model.fit(x, set.y.to(device));
    CHECK(model.predict(x).device() == device);
    CHECK(difference(model.predict(x), std::vector<double>(values.begin(), values.end())) < 1e-4);
  });
}

TEST_CASE("SVR: errors below epsilon, one sample, and equal samples") {
  const Tensor x = floats({0, 1, 2}, {3, 1});
  SVR wide({.epsilon = 5});
  wide.fit(x, floats({1, 2, 3}, {3}));
  CHECK(wide.support().empty());
  CHECK(wide.support_vectors().shape() == Shape{0, 1});
  CHECK(difference(wide.predict(x), {2, 2, 2}) < 1e-6);  // the middle of the targets
  SVR one;
  one.fit(floats({3}, {1, 1}), floats({7}, {1}));
  CHECK(difference(one.predict(floats({3, 9}, {2, 1})), {7, 7}) < 1e-6);
  SVR same({.kernel = SvmKernel::linear});
  same.fit(floats({1, 1, 1}, {3, 1}), floats({0, 1, 5}, {3}));
  CHECK(same.converged());
  CHECK(difference(same.predict(floats({1}, {1, 1})), {1}) < 0.11);  // the median, within epsilon
}

TEST_CASE("SVR: errors") {
  const Tensor x = floats({1, 2, 3}, {3, 1}), y = floats({0, 1, 1}, {3});
  SVR model;
  CHECK_THROWS_WITH_AS(model.predict(x), "[SVR] expected a fitted model, call fit() first",
                       ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({0, 1, 1}, {3, 1})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({0, 1}, {2})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({0, 1, 1}, {3})), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({}, {0, 1}), floats({}, {0})), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(model.fit(floats({1, nan, 3}, {3, 1}), y), ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({1, nan, 3}, {3})), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_AS(model.predict(floats({nan}, {1, 1})), ShapeError);
  CHECK_THROWS_AS(model.predict(floats({1, 2}, {1, 2})), ShapeError);
  for (const SVROptions& options :
       {SVROptions{.c = 0}, SVROptions{.epsilon = -1}, SVROptions{.gamma = -1.0},
        SVROptions{.tol = nan}, SVROptions{.cache_size = -1}, SVROptions{.max_iter = -2}})
    CHECK_THROWS_AS(SVR{options}, ShapeError);
}
