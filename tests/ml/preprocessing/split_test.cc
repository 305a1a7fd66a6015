// SPDX-License-Identifier: MIT
#include "ml/preprocessing/split.h"

#include <set>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// The fold of each sample. Each must be in the test of one fold and in the training of the others.
std::vector<double> folds_of(const std::vector<SplitIndices>& splits, int64_t n) {
  std::vector<double> folds(static_cast<size_t>(n), -1);
  for (size_t f = 0; f < splits.size(); ++f) {
    CHECK(splits[f].train.size() + splits[f].test.size() == n);
    for (int32_t i : splits[f].test.to_vector<int32_t>()) {
      CHECK(folds[static_cast<size_t>(i)] == -1);
      folds[static_cast<size_t>(i)] = static_cast<double>(f);
    }
  }
  return folds;
}

}  // namespace

TEST_CASE("KFold and StratifiedKFold: equal scikit-learn's without shuffling") {
  const MlCases cases("preprocessing.txt");
  CHECK(difference(folds_of(KFold({.n_splits = 4}).split(23), 23), cases["kfold.23.4"].values) ==
        0);
  for (const std::string name : {"iris", "digits", "cancer"}) {
    const Tensor y = ml_set(name).y;
    CHECK(difference(folds_of(StratifiedKFold().split(y), y.size()),
                     cases[name + ".stratified"].values) == 0);
  }
}

TEST_CASE("KFold and StratifiedKFold: shuffled by the seed") {
  const Tensor y = ml_set("iris").y;
  const auto first = folds_of(StratifiedKFold({.shuffle = true, .seed = 3}).split(y), 150);
  CHECK(first == folds_of(StratifiedKFold({.shuffle = true, .seed = 3}).split(y), 150));
  CHECK(first != folds_of(StratifiedKFold({.shuffle = true, .seed = 4}).split(y), 150));
  for (int f = 0; f < 5; ++f) CHECK(std::count(first.begin(), first.begin() + 50, f) == 10);
  CHECK(folds_of(KFold({.shuffle = true}).split(50), 50) != folds_of(KFold().split(50), 50));
}

TEST_CASE("train_test_split: each sample at most once, rows of x and y together") {
  for (Device device : all_devices()) {
    const MlSet set = ml_set("iris").to(device);
    const TrainTestParts parts = train_test_split(set.x, set.y, {.seed = 1});
    CHECK(parts.x_test.shape() == Shape{38, 4});
    CHECK(parts.y_train.shape() == Shape{112});
    CHECK(parts.x_train.device() == device);
  }
  const SplitIndices split = train_test_indices(10, {.test_size = 0.3, .train_size = 0.55});
  std::set<int32_t> all;
  for (const Tensor& part : {split.train, split.test})
    for (int32_t i : part.to_vector<int32_t>()) all.insert(i);
  CHECK(split.train.size() == 5);
  CHECK(split.test.size() == 3);
  CHECK(all.size() == 8);
  CHECK(train_test_indices(4, {.shuffle = false}).test.to_vector<int32_t>() ==
        std::vector<int32_t>{3});
}

TEST_CASE("train_test_split: stratified parts keep the proportions") {
  const Tensor y = ml_set("iris").y;
  const SplitIndices split = train_test_indices(150, {.test_size = 0.2, .stratify = &y});
  std::vector<int> counts(3);
  for (int32_t i : split.test.to_vector<int32_t>()) ++counts[static_cast<size_t>(i / 50)];
  CHECK(counts == std::vector<int>{10, 10, 10});
  const Tensor alone = integers({0, 0, 0, 1}, {4});
  CHECK_THROWS_AS(train_test_indices(4, {.test_size = 0.5, .stratify = &alone}), ShapeError);
  CHECK_THROWS_AS(train_test_indices(150, {.shuffle = false, .stratify = &y}), ShapeError);
}

TEST_CASE("splits: errors") {
  CHECK_THROWS_AS(KFold({.n_splits = 1}), ShapeError);
  CHECK_THROWS_WITH_AS(KFold().split(3),
                       "[KFold] expected at least 5 samples, one for each fold, got 3", ShapeError);
  CHECK_THROWS_AS(StratifiedKFold().split(integers({0, 0, 1, 1}, {4})), ShapeError);
  CHECK_THROWS_AS(StratifiedKFold().split(floats({0, 0, 1, 1}, {4})), ShapeError);
  CHECK_THROWS_AS(train_test_indices(0), ShapeError);
  CHECK_THROWS_AS(train_test_indices(1), ShapeError);
  for (double size : {0.0, 1.0, -0.5})
    CHECK_THROWS_AS(train_test_indices(10, {.test_size = size}), ShapeError);
  CHECK_THROWS_AS(train_test_split(floats({1, 2}, {2, 1}), integers({1}, {1})), ShapeError);
}
