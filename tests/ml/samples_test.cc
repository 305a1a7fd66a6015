// SPDX-License-Identifier: MIT
#include "ml/samples.h"

#include <doctest/doctest.h>

using namespace kaiseki;
using namespace kaiseki::ml;

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
