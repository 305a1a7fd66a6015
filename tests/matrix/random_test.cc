// SPDX-License-Identifier: MIT
#include "matrix/random.h"

#include <doctest/doctest.h>

#include <cmath>

namespace kaiseki {

TEST_CASE("philox gives the published test vectors") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream is reproducible, seekable and independent of others") {
  Random a(1, 2), b(1, 2), other(1, 3);
  for (int i = 0; i < 9; ++i) CHECK(a.next() == b.next());
  b.seek(4);
  Random c(1, 2);
  for (int i = 0; i < 4; ++i) c.next();
  CHECK(b.next() == c.next());
  CHECK(other.next() != Random(1, 2).next());
}

TEST_CASE("the distributions have their moments") {
  Random random(7);
  const int count = 200000;
  double uniform = 0, normal = 0, squares = 0;
  int counts[5] = {};
  for (int i = 0; i < count; ++i) {
    float u = random.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    uniform += u;
    double n = random.normal();
    normal += n;
    squares += n * n;
    ++counts[random.below(5)];
  }
  // Five standard errors of each mean.
  CHECK(std::abs(uniform / count - 0.5) < 5 * 0.2887 / std::sqrt(count));
  CHECK(std::abs(normal / count) < 5 / std::sqrt(count));
  CHECK(std::abs(squares / count - 1) < 5 * std::sqrt(2.0 / count));
  for (int n : counts) CHECK(std::abs(n - count / 5) < 5 * std::sqrt(count * 0.16));
}

}  // namespace kaiseki
