// SPDX-License-Identifier: MIT
#include "base/hex.h"

#include <doctest/doctest.h>

using namespace kaiseki;

TEST_CASE("hex: two lower-case digits for each byte") {
  CHECK(to_hex(as_bytes(std::string_view("\0\x0f\xa0\xff", 4))) == "000fa0ff");
  CHECK(to_hex({}).empty());
  CHECK(is_hex("0123456789abcdef"));
  CHECK(!is_hex("0A"));
  CHECK(!is_hex("0g"));
}
