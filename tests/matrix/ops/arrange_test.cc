// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares the elements with NumPy's results.
#include "matrix/ops/arrange.h"

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("arrange: squeeze, expand_dims, flip, moveaxis and split are views") {
  const Tensor x = random_tensor({2, 1, 6}, 1);
  CHECK(squeeze(x, {1}).shares_storage_with(x));
  CHECK(squeeze(x.transpose()).shape() == Shape{2, 6});
  CHECK(expand_dims(x, -1).shares_storage_with(x));
  CHECK(flip(x, {2}).shares_storage_with(x));
  CHECK(moveaxis(x, 0, -1).shares_storage_with(x));
  const std::vector<Tensor> parts = split(x, 3, 2);
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].shape() == Shape{2, 1, 2});
  CHECK(parts[1].shares_storage_with(x));
  const int64_t positions[] = {1, 1, 4};
  CHECK(split(x, positions, 2)[2].shape() == Shape{2, 1, 3});
}

TEST_CASE("tile: a tensor of six axes, all repeated") {
  for_each_device([](Device device) {
    const Tensor x = random_tensor({1, 2, 1, 2, 1, 2}, 1, device);
    const Tensor y = tile(x, {2, 2, 2, 2, 2, 2});
    const Doubles from = doubles(x);
    Doubles expected;
    for_each_index(y.shape(), [&](const Shape& i) {
      expected.push_back(from[i[1] % 2 * 4 + i[3] % 2 * 2 + i[5] % 2]);
    });
    check_close(y, expected, 0);
    CHECK(tile(x, {0, 1, 1, 1, 1, 1}).size() == 0);
  });
}

TEST_CASE("arrange: wrong arguments are errors") {
  const Tensor x({2, 3});
  CHECK_THROWS_AS(squeeze(x, {0}), ShapeError);
  CHECK_THROWS_AS(expand_dims(x, 3), ShapeError);
  CHECK_THROWS_AS(expand_dims(Tensor({1, 1, 1, 1, 1, 1, 1, 1}), 0), ShapeError);
  CHECK_THROWS_AS(flip(x, {2}), ShapeError);
  CHECK_THROWS_AS(split(x, 2, 1), ShapeError);
  CHECK_THROWS_AS(split(x, 0, 1), ShapeError);
  const int64_t positions[] = {2, 1};
  CHECK_THROWS_AS(split(x, positions, 1), ShapeError);
  CHECK_THROWS_AS(stack({}, 0), ShapeError);
  const Tensor different[] = {x, Tensor({3, 2})};
  CHECK_THROWS_AS(stack(different, 0), ShapeError);
  CHECK_THROWS_AS(tile(x, {-1}), ShapeError);
  CHECK_THROWS_AS(repeat(x, -1, 0), ShapeError);
  CHECK_THROWS_AS(repeat(x, Tensor({3}, DType::i32), 0), ShapeError);
  CHECK_THROWS_AS(moveaxis(x, 2, 0), ShapeError);
  CHECK_THROWS_AS(roll(Tensor(), 1, 0), ShapeError);
}
