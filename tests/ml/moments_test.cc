// SPDX-License-Identifier: MIT
#include "ml/moments.h"

#include "tests/support/devices.h"

using namespace kaiseki;
using namespace kaiseki::ml;

TEST_CASE("column_moments: blocks of rows, a large mean, and constant columns") {
  const int64_t n = 40000;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(100000.0f + static_cast<float>(i % 5));
    values.push_back(0.1f);
  }
  test::for_each_device([&](Device device) {
    const Tensor x = Tensor::from(std::span<const float>(values), {n, 2}, device);
    const ColumnMoments m = column_moments(x);
    CHECK(m.count == n);
    CHECK(m.mean[0] == doctest::Approx(100002).epsilon(1e-9));
    CHECK(m.variance(0) == doctest::Approx(2).epsilon(1e-5));
    CHECK(!m.is_constant(0));
    CHECK(m.mean[1] == doctest::Approx(0.1f).epsilon(1e-9));
    CHECK(m.is_constant(1));
  });
}
