// SPDX-License-Identifier: MIT
// Scalers, encoder and splits with unusual input.
#include "ml/preprocessing/min_max_scaler.h"
#include "ml/preprocessing/one_hot_encoder.h"
#include "ml/preprocessing/split.h"
#include "ml/preprocessing/standard_scaler.h"
#include "tests/support/ml_edges.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

template <typename Scaler>
void check_scaler_edges() {
  const MlSet set = edge_set(60);
  Scaler scaler;
  check_bad_samples([&](const Tensor& x) { scaler.fit(x); });
  check_bad_samples([&](const Tensor& x) { scaler.partial_fit(x); });
  CHECK(scaler.samples_seen() == 0);
  CHECK_THROWS_AS(scaler.transform(set.x), ShapeError);
  CHECK_THROWS_AS(scaler.inverse_transform(set.x), ShapeError);
  const std::vector<double> expected = wide_values(scaler.fit_transform(set.x));
  for (int64_t i = 0; i < 60; ++i) CHECK(expected[static_cast<size_t>(4 * i + 1)] == 0);
  check_bad_samples([&](const Tensor& x) { scaler.transform(x); });
  check_bad_samples([&](const Tensor& x) { scaler.inverse_transform(x); });
  // A fit that fails leaves the scaler as it was.
  check_bad_samples([&](const Tensor& x) { scaler.fit(x); });
  CHECK(wide_values(scaler.transform(set.x)) == expected);
  for_each_device([&](Device device) {
    for (const Tensor& view : strided_views(set.x.to(device))) {
      Scaler other;
      CHECK(difference(other.fit_transform(view), expected) < 1e-5);
      CHECK(difference(other.inverse_transform(other.transform(view)), wide_values(set.x)) < 1e-5);
    }
  });
  Scaler one;
  CHECK(wide_values(one.fit_transform(floats({-3, 1e30, 0}, {1, 3}))) ==
        std::vector<double>{0, 0, 0});
}

}  // namespace

TEST_CASE("StandardScaler: unusual input") { check_scaler_edges<StandardScaler>(); }

TEST_CASE("MinMaxScaler: unusual input") { check_scaler_edges<MinMaxScaler>(); }

TEST_CASE("OneHotEncoder: views, negative categories and one sample") {
  const Tensor x = integers({-2147483648.0, 3, 2147483647.0, 3, -1, -7}, {3, 2});
  OneHotEncoder encoder;
  const std::vector<float> expected = encoder.fit_transform(x).to_vector();
  CHECK(expected == std::vector<float>{1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  for (Device device : all_devices())
    for (const Tensor& view : strided_views(x.to(device))) {
      OneHotEncoder other;
      CHECK(other.fit_transform(view).to_vector() == expected);
    }
  OneHotEncoder one;
  CHECK(one.fit_transform(integers({-9}, {1, 1})).to_vector() == std::vector<float>{1});
}

TEST_CASE("train_test_split: views, any type, and undefined tensors") {
  const MlSet set = edge_set(20);
  const Tensor expected = train_test_split(set.x, set.y, {.seed = 4}).x_test;
  for (const Tensor& view : strided_views(set.x))
    CHECK(train_test_split(view, set.y, {.seed = 4}).x_test.to_vector() == expected.to_vector());
  CHECK_THROWS_AS(train_test_split(Tensor(), set.y), ShapeError);
  CHECK_THROWS_AS(train_test_split(set.x, Tensor()), ShapeError);
  CHECK_THROWS_AS(train_test_split(floats({}, {0, 4}), integers({}, {0})), ShapeError);
  CHECK_THROWS_AS(train_test_split(floats({1}, {1, 1}), integers({1}, {1})), ShapeError);
  CHECK_THROWS_AS(StratifiedKFold().split(Tensor()), ShapeError);
  CHECK_THROWS_AS(StratifiedKFold().split(integers({}, {0})), ShapeError);
  CHECK_THROWS_AS(KFold().split(0), ShapeError);
  CHECK_THROWS_AS(KFold().split(-5), ShapeError);
}
