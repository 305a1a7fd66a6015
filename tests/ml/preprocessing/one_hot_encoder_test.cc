// SPDX-License-Identifier: MIT
#include "ml/preprocessing/one_hot_encoder.h"

#include "base/error.h"
#include "matrix/ops/compare.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("OneHotEncoder: equals scikit-learn's, and inverse_transform returns the categories") {
  const MlCases cases("preprocessing.txt");
  const MlCase& c = cases["one_hot.x"];
  const std::pair<std::string, DropCategory> drops[] = {{"None", DropCategory::none},
                                                        {"first", DropCategory::first},
                                                        {"if_binary", DropCategory::if_binary}};
  for (Device device : all_devices())
    for (const auto& drop : drops) {
      const Tensor x = integers(c.values, {c.rows, c.columns}, device);
      OneHotEncoder encoder({.drop = drop.second});
      const Tensor columns = encoder.fit_transform(x);
      CHECK(columns.device() == device);
      CHECK(columns.dim(1) == cases["one_hot." + drop.first].columns);
      CHECK(difference(columns, cases["one_hot." + drop.first].values) == 0);
      CHECK(array_equal(encoder.inverse_transform(columns), x));
    }
}

TEST_CASE("OneHotEncoder: unknown categories and errors") {
  const Tensor x = integers({5, -1, 7, -1}, {2, 2});
  OneHotEncoder strict, ignoring({.handle_unknown = UnknownCategory::ignore, .unknown_value = -9});
  strict.fit(x);
  CHECK(strict.categories() == std::vector<std::vector<int32_t>>{{5, 7}, {-1}});
  CHECK_THROWS_WITH_AS(
      strict.transform(integers({5, 3}, {1, 2})),
      "[OneHotEncoder.transform] expected a category that fit() has seen, got 3 for sample 0 and "
      "feature 1",
      ShapeError);
  ignoring.fit(x);
  const Tensor rows = ignoring.transform(integers({6, -1}, {1, 2}));
  CHECK(rows.to_vector() == std::vector<float>{0, 0, 1});
  CHECK(ignoring.inverse_transform(rows).to_vector<int32_t>() == std::vector<int32_t>{-9, -1});
  CHECK_THROWS_AS(strict.inverse_transform(rows), ShapeError);
  CHECK_THROWS_AS(OneHotEncoder().transform(x), ShapeError);
  CHECK_THROWS_AS(strict.transform(integers({5}, {1, 1})), ShapeError);
  CHECK_THROWS_AS(strict.fit(floats({1}, {1, 1})), ShapeError);
  CHECK_THROWS_AS(strict.fit(integers({}, {0, 1})), ShapeError);
}
