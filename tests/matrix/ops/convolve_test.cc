// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares all modes with NumPy's results.
#include "matrix/ops/convolve.h"

#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("convolve: a long signal with an even window") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({5003}, 1, device), b = random_tensor({16}, 2, device);
    const Doubles x = doubles(a), y = doubles(b);
    Doubles full(5018), same;
    for (size_t i = 0; i < x.size(); ++i)
      for (size_t j = 0; j < y.size(); ++j) full[i + j] += x[i] * y[j];
    same.assign(full.begin() + 7, full.begin() + 7 + 5003);
    // Sums of 16 products below 1 in f32.
    check_close(convolve(a, b), full, 1e-5, 1e-5);
    check_close(convolve(b, a, ConvolveMode::same), same, 1e-5, 1e-5);
  });
}

TEST_CASE("convolve: a NaN reaches the outputs that read it") {
  for_each_device([](Device device) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor a = Tensor::from({1, 2, nan, 4, 5}, {5}, device);
    check_close(convolve(a, Tensor::from({1, 1}, {2}, device)), {1, 3, nan, nan, 9, 5}, 0);
  });
}

TEST_CASE("convolve: wrong arguments are errors") {
  const Tensor a({3}), b({2, 2});
  CHECK_THROWS_AS(convolve(a, b), ShapeError);
  CHECK_THROWS_AS(convolve(a, Tensor({0})), ShapeError);
  CHECK_THROWS_AS(convolve(a, Tensor({2}, DType::i32)), ShapeError);
  CHECK_THROWS_AS(correlate(Tensor({3, 3}), Tensor({4, 1}), ConvolveMode::valid), ShapeError);
  CHECK_THROWS_AS(correlate(Tensor({1, 1, 1}), Tensor({1, 1, 1})), ShapeError);
}
