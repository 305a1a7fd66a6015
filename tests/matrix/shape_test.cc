// SPDX-License-Identifier: MIT
#include "matrix/shape.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace kaiseki {

TEST_CASE("a shape computes its number of elements and its strides") {
  Shape shape{2, 3, 4};
  CHECK(shape.rank() == 3);
  CHECK(shape.elements() == 24);
  CHECK(shape.contiguous_strides() == Shape{12, 4, 1});
  CHECK(shape[-1] == 4);
  CHECK(shape.str() == "[2, 3, 4]");
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{5, 0, 3}.elements() == 0);
}

TEST_CASE("invalid shapes are refused") {
  CHECK_THROWS_WITH_AS(Shape({2, -1}).elements(),
                       "[shape] expected dimensions of 0 or more, got [2, -1]", ShapeError);
  int64_t big = int64_t{1} << 40;
  CHECK_THROWS_AS(Shape({big, big}).elements(), ShapeError);
  CHECK_THROWS_AS(Shape({big, 0, big}).elements(), ShapeError);
  int64_t half = int64_t{1} << 31;
  CHECK_THROWS_AS(Shape({half, half}).elements(), ShapeError);  // 2^62: 0 bytes of f32 modulo 2^64
  CHECK(Shape({half, half - 1}).elements() == half * (half - 1));
  CHECK_THROWS_AS(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), ShapeError);
  CHECK_THROWS_AS(Shape({2})[1], ShapeError);
}

TEST_CASE("shapes broadcast like NumPy's") {
  CHECK(broadcast_shapes({2, 1, 4}, {3, 1}, "add") == Shape{2, 3, 4});
  CHECK(broadcast_shapes({}, {5}, "add") == Shape{5});
  CHECK(broadcast_shapes({0}, {1}, "add") == Shape{0});
  CHECK(broadcast_shapes({1}, {0}, "add") == Shape{0});
  CHECK_THROWS_WITH_AS(broadcast_shapes({2, 3}, {4}, "add"),
                       "[add] expected shapes that broadcast together, got [2, 3] and [4]",
                       ShapeError);
}

}  // namespace kaiseki
