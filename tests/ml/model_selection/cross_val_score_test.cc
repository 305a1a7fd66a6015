// SPDX-License-Identifier: MIT
#include "ml/model_selection/cross_val_score.h"

#include "base/error.h"
#include "matrix/ops/index.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "ml/svm/svc.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

MlSet scaled_set(const std::string& name) {
  MlSet set = ml_set(name);
  if (name != "iris") set.x = scaled(set.x);
  return set;
}

}  // namespace

TEST_CASE("cross_val_score: equals scikit-learn's on the same folds") {
  const MlCases cases("model_selection.txt");
  for (const std::string name : {"iris", "cancer"}) {
    CAPTURE(name);
    const MlSet set = scaled_set(name);
    const SVC svc({.tol = 1e-6}), linear({.kernel = SvmKernel::linear, .tol = 1e-6});
    CHECK(difference(cross_val_score(svc, set.x, set.y), cases[name + ".svc"].values) < 1e-6);
    CHECK(difference(cross_val_score(linear, set.x, set.y, {.n_splits = 3}),
                     cases[name + ".linear3"].values) < 1e-6);
    const std::vector<SplitIndices> folds = KFold({.n_splits = 4}).split(set.x.dim(0));
    CHECK(difference(cross_val_score(svc, set.x, set.y, {.folds = folds}),
                     cases[name + ".kfold"].values) < 1e-6);
    LogisticRegressionOptions options;
    options.tol = 1e-6;
    options.max_iter = 5000;
    CHECK(difference(cross_val_score(LogisticRegression(options), set.x, set.y),
                     cases[name + ".logistic"].values) < 1e-6);
  }
  const MlSet tall = regression_set(80, 7, 1, 10);
  CHECK(difference(cross_val_score(Ridge(), tall.x, tall.y), cases["tall.ridge"].values) < 1e-5);
}

TEST_CASE("cross_val_score: the estimator of the caller stays as it is, and seeds repeat") {
  const MlSet set = ml_set("iris");
  const SVC svc;
  const std::vector<double> first =
      cross_val_score(svc, set.x, set.y, {.shuffle = true, .seed = 7});
  CHECK(first == cross_val_score(svc, set.x, set.y, {.shuffle = true, .seed = 7}));
  CHECK_THROWS_AS(svc.predict(set.x), ShapeError);  // not fitted
  const auto with_seed = [&](uint64_t seed) {
    return cross_val_folds(set.y, {.shuffle = true, .seed = seed})[0].test.to_vector<int32_t>();
  };
  CHECK(with_seed(1) == with_seed(1));
  CHECK(with_seed(1) != with_seed(2));
}

TEST_CASE("cross_val_score: on every device, and with several outputs") {
  const MlSet set = ml_set("iris");
  const std::vector<double> expected = cross_val_score(SVC({.tol = 1e-6}), set.x, set.y);
  for_each_device([&](Device device) {
    const MlSet there = set.to(device);
    CHECK(cross_val_score(SVC({.tol = 1e-6}), there.x, there.y) == expected);
  });
  const MlSet outputs = regression_set(60, 5, 3, 12);
  CHECK(cross_val_score(Ridge(), outputs.x, outputs.y, {.n_splits = 4}).size() == 4);
}

TEST_CASE("cross_val_score: errors") {
  const MlSet set = ml_set("iris");
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x, set.y.slice(0, 0, 100)), ShapeError);
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x, Tensor()), ShapeError);
  CHECK_THROWS_AS(cross_val_score(SVC(), Tensor(), set.y), ShapeError);
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x, set.y, {.n_splits = 1}), ShapeError);
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x, set.y, {.n_splits = 51}), ShapeError);
  // The first 40 samples have one class only: the error of the estimator.
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x.slice(0, 0, 40), set.y.slice(0, 0, 40)), ShapeError);
  const Tensor none = Tensor::zeros({0}, DType::i32, Device::cpu());
  CHECK_THROWS_WITH_AS(
      cross_val_score(SVC(), set.x, set.y, {.folds = {{none, integers({1}, {1})}}}),
      "[cross_val_score] expected folds with samples for training and for the test", ShapeError);
  CHECK_THROWS_AS(cross_val_score(SVC(), set.x, set.y,
                                  {.folds = {{integers({1, 150}, {2}), integers({1}, {1})}}}),
                  ShapeError);
}
