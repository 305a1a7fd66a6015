// SPDX-License-Identifier: MIT
#include "ml/metrics/regression.h"

#include <limits>

#include "base/error.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("r2_score and mean_squared_error: equal scikit-learn's") {
  const MlCases cases("metrics.txt");
  const Tensor truth = regression_set(50, 4, 3, 1).y;
  const std::vector<float> exact = truth.to_vector();
  std::vector<double> values = lcg_numbers(150, 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] = exact[i] + 0.3 * values[i];
  const Tensor predicted = floats(values, {50, 3});
  CHECK(difference({r2_score(truth, predicted),
                    r2_score(truth, predicted, OutputAverage::variance_weighted),
                    mean_squared_error(truth, predicted)},
                   cases["r2"].values) < 1e-6);
}

TEST_CASE("r2_score: constant targets, one sample, and errors") {
  const Tensor constant = floats({2, 2, 2}, {3}), other = floats({2, 2, 3}, {3});
  CHECK(r2_score(constant, constant) == 1);
  CHECK(r2_score(constant, other) == 0);
  CHECK(std::isnan(r2_score(floats({1}, {1}), floats({1}, {1}))));
  CHECK_THROWS_AS(r2_score(constant, floats({1, 2}, {2})), ShapeError);
  CHECK_THROWS_AS(mean_squared_error(floats({}, {0}), floats({}, {0})), ShapeError);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(mean_squared_error(constant, floats({1, 2, infinity}, {3})), ShapeError);
}
