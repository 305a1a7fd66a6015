// SPDX-License-Identifier: MIT
#include "base/json_line.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kaiseki;

TEST_CASE("JSON line: numbers, truth values and escaped texts") {
  CHECK(JsonLine().str() == "{}");
  CHECK(JsonLine().add("a", 3).add("b", 0.25).add("c", true).str() ==
        R"({"a": 3, "b": 0.25, "c": true})");
  CHECK(JsonLine().add("q\"", "x\\y\n\x01").str() == R"({"q\"": "x\\y\n\u0001"})");
  CHECK(JsonLine().add("é", "\x7f\xc2\x9b\xff懐").str() == R"({"é": "\u007f\u009b�懐"})");
  CHECK(JsonLine().add("a", "b\u202ec\u2066").str() == R"({"a": "b\u202ec\u2066"})");
  CHECK(JsonLine().add("nan", NAN).add("big", INFINITY).str() == R"({"nan": null, "big": null})");
}
