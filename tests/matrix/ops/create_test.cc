// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares more shapes with NumPy's results.
#include "matrix/ops/create.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("create: ones, zeros_like and full_like of every type") {
  for_each_device([](Device device) {
    CHECK(ones({3}, DType::u8, device).to_vector<uint8_t>() == std::vector<uint8_t>{1, 1, 1});
    CHECK(ones({2}, DType::boolean, device).to_vector<bool>() == std::vector<bool>{true, true});
    const Tensor bytes({300001}, DType::u8, device);
    CHECK(full_like(bytes, 255).to_vector<uint8_t>() == std::vector<uint8_t>(300001, 255));
    CHECK(zeros_like(bytes).to_vector<uint8_t>() == std::vector<uint8_t>(300001, 0));
    CHECK(ones_like(Tensor({2}, DType::i32, device)).to_vector<int32_t>() ==
          std::vector<int32_t>{1, 1});
    CHECK(eye(2, DType::i32, device).to_vector<int32_t>() == std::vector<int32_t>{1, 0, 0, 1});
    CHECK_THROWS_AS(full_like(bytes, 256), ShapeError);
    CHECK_THROWS_AS(full_like(bytes, 0.5f), ShapeError);
    CHECK_THROWS_AS(full_like(Tensor({1}, DType::boolean, device), 2), ShapeError);
    CHECK_THROWS_AS(full_like(Tensor({1}, DType::i32, device), 0x1p31f), ShapeError);
  });
}

TEST_CASE("create: f64") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    CHECK(arange(0, 0.25, 0.1, DType::f64, device).to_vector<double>() ==
          std::vector<double>{0, 0.1, 0.2});
    CHECK(full_like(Tensor({2}, DType::f64, device), 0.1).to_vector<double>() ==
          std::vector<double>{0.1, 0.1});
    CHECK(triu(ones({2, 2}, DType::f64, device)).to_vector<double>() ==
          std::vector<double>{1, 1, 0, 1});
    CHECK(diag(arange(2, DType::f64, device)).to_vector<double>() ==
          std::vector<double>{0, 0, 0, 1});
    CHECK(one_hot(arange(2, DType::i32, device), 2, DType::f64).to_vector<double>() ==
          eye(2, DType::f64, device).to_vector<double>());
  });
}

TEST_CASE("triu, tril: a diagonal outside the matrix") {
  for_each_device([](Device device) {
    const Tensor x = ones({2, 3}, DType::f32, device);
    const int64_t farthest = std::numeric_limits<int64_t>::max();
    for (int64_t diagonal : {int64_t{3}, int64_t{1} << 33, farthest}) {
      CHECK(doubles(triu(x, diagonal)) == Doubles(6, 0));
      CHECK(doubles(triu(x, -diagonal)) == Doubles(6, 1));
      CHECK(doubles(tril(x, diagonal)) == Doubles(6, 1));
      CHECK(doubles(tril(x, -diagonal)) == Doubles(6, 0));
    }
    CHECK_THROWS_AS(diag(x, std::numeric_limits<int64_t>::min()), ShapeError);
  });
}

TEST_CASE("arange, linspace: values, ends and errors") {
  CHECK(arange(0, 1, 0.1).size() == 10);
  CHECK(arange(5, DType::u8).to_vector<uint8_t>() == std::vector<uint8_t>{0, 1, 2, 3, 4});
  CHECK(linspace(0, 0.1, 3).to_vector()[2] == 0.1f);
  CHECK_THROWS_AS(arange(0, 1e13), ShapeError);
  CHECK_THROWS_AS(arange(0, 1, 0), ShapeError);
  CHECK_THROWS_AS(arange(5, 0, 0), ShapeError);
  CHECK_THROWS_AS(arange(-INFINITY, 0, -1), ShapeError);
  CHECK_THROWS_AS(arange(0, 1, INFINITY), ShapeError);
  CHECK_THROWS_AS(arange(0, std::nan("")), ShapeError);
  CHECK_THROWS_AS(arange(0, 257, 1, DType::u8), ShapeError);
  CHECK_THROWS_AS(arange(0, 3, 1, DType::boolean), ShapeError);
  CHECK_THROWS_AS(linspace(0, 1, -1), ShapeError);
}

TEST_CASE("triu, tril: a batch with infinities, which do not become NaN") {
  for_each_device([](Device device) {
    const Tensor x = Tensor::full({2, 3, 3}, INFINITY, device);
    Doubles lower, upper;
    for (int batch = 0; batch < 2; ++batch)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          lower.push_back(j <= i ? INFINITY : 0);
          upper.push_back(j >= i + 1 ? INFINITY : 0);
        }
    check_close(tril(x), lower, 0);
    check_close(triu(x, 1), upper, 0);
    CHECK_THROWS_AS(tril(Tensor({3}, DType::f32, device)), ShapeError);
    CHECK_THROWS_AS(diag(x), ShapeError);
  });
}

TEST_CASE("one_hot, meshgrid: wrong arguments are errors") {
  const Tensor labels = arange(3, DType::i32);
  CHECK(one_hot(labels, 3, DType::boolean).dtype() == DType::boolean);
  CHECK_THROWS_WITH_AS(one_hot(labels, 2),
                       "[one_hot] expected indices from -2 to 1, got 2 at position 2", ShapeError);
  CHECK_THROWS_AS(one_hot(Tensor({3}), 3), ShapeError);
  const Tensor axes[] = {Tensor({2, 2})};
  CHECK_THROWS_AS(meshgrid(axes), ShapeError);
  CHECK(meshgrid({}).empty());
}
