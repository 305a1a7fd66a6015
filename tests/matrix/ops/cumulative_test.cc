// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares all types and axes with NumPy's results.
#include "matrix/ops/cumulative.h"

#include "base/error.h"
#include "matrix/ops/create.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("cumsum: long rows and columns, and views") {
  for_each_device([](Device device) {
    const Tensor x = random_tensor({5003, 3}, 1, device);
    Doubles expected = doubles(x);
    for (size_t i = 3; i < expected.size(); ++i) expected[i] += expected[i - 3];
    // f32 rounds each of 5003 additions. The sums stay below 200.
    check_close(cumsum(x, 0), expected, 1e-5, 2e-3);
    check_close(cumsum(x.transpose(), 1).transpose().contiguous(), expected, 1e-5, 2e-3);
  });
}

TEST_CASE("cumsum, cumprod, cummax: f64") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const double values[] = {1e300, 1, -1e300};
    const Tensor x = Tensor::from(std::span<const double>(values), {3}, device);
    CHECK(cumsum(x, 0).to_vector<double>() == std::vector<double>{1e300, 1e300, 0});
    CHECK(cumprod(x, 0).to_vector<double>()[1] == 1e300);
    CHECK(cummax(x, 0).to_vector<double>() == std::vector<double>(3, 1e300));
  });
}

TEST_CASE("cumsum, cumprod: integers wrap; wrong arguments are errors") {
  for_each_device([](Device device) {
    const int32_t values[] = {2147483647, 1, -1};
    const Tensor x = Tensor::from(std::span<const int32_t>(values), {3}, device);
    CHECK(cumsum(x, 0).to_vector<int32_t>() ==
          std::vector<int32_t>{2147483647, -2147483647 - 1, 2147483647});
    CHECK(cumsum(ones({300}, DType::u8, device), 0).to_vector<int32_t>()[299] == 300);
    CHECK(cumprod(x, 0).to_vector<int32_t>()[2] == -2147483647);
    CHECK_THROWS_AS(cumsum(x, 1), ShapeError);
    CHECK_THROWS_AS(cummax(Tensor(), 0), ShapeError);
  });
}
