// SPDX-License-Identifier: MIT
#include "ml/samples.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace kaiseki;
using namespace kaiseki::ml;

TEST_CASE("encode_labels: the ends of i32, and none") {
  const int32_t low = std::numeric_limits<int32_t>::min(), high = -(low + 1);
  const LabelCodes codes = encode_labels({high, low, 0, high});
  CHECK(codes.classes == std::vector<int32_t>{low, 0, high});
  CHECK(codes.codes == std::vector<int32_t>{2, 0, 1, 2});
  for (int32_t first : {low, high - 1}) {
    const LabelCodes close = encode_labels({first + 1, first});
    CHECK(close.classes == std::vector<int32_t>{first, first + 1});
    CHECK(close.codes == std::vector<int32_t>{1, 0});
  }
  CHECK(encode_labels({}).classes.empty());
}

TEST_CASE("encode_labels: codes in the order of the labels, and unknown labels") {
  const LabelCodes codes = encode_labels({7, -2, 7, 0});
  CHECK(codes.classes == std::vector<int32_t>{-2, 0, 7});
  CHECK(codes.codes == std::vector<int32_t>{2, 0, 2, 1});
  CHECK(decode_labels(codes.codes, codes.classes, Device::cpu()).to_vector<int32_t>() ==
        std::vector<int32_t>{7, -2, 7, 0});
  CHECK_THROWS_WITH_AS(encode_labels({7, 3}, {-2, 7}, "test"),
                       "[test] expected a label among the known classes, got 3 for sample 1",
                       ShapeError);
}

TEST_CASE("Tempura's fault: checkHasData, checkInstance and checkHasNan found nothing") {
  const auto matrix = [](std::initializer_list<float> values, const Shape& shape) {
    return Tensor::from(values, shape, Device::cpu());
  };
  CHECK_NOTHROW(check_samples(matrix({1, 2}, {2, 1}), "test"));
  CHECK_THROWS_AS(check_samples(Tensor(), "test"), ShapeError);
  CHECK_THROWS_WITH_AS(check_samples(matrix({}, {0, 3}), "test"),
                       "[test] expected at least one sample and one feature, got x of shape [0, 3]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(check_samples(matrix({1, 2}, {2}), "test"),
                       "[test] expected x of shape [n, features], got [2]", ShapeError);
  CHECK_THROWS_WITH_AS(check_samples(matrix({1, std::nanf("")}, {2, 1}), "test"),
                       "[test] expected finite elements in x, got NaN or infinity", ShapeError);
}
