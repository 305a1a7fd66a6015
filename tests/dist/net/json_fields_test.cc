// SPDX-License-Identifier: MIT
#include "dist/net/json_fields.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace kaiseki;
using namespace kaiseki::dist;

TEST_CASE("fields: present, missing and of another type") {
  const Fields fields(R"({"name": "n", "x": 2.5, "i": 7, "on": true, "t": ["a", "b"],
                          "list": [{"k": 1}, {"k": "no"}]})");
  CHECK(fields.text("name", "") == "n");
  CHECK(fields.text("none", "else") == "else");
  CHECK(fields.number("x", 0, 0, 3) == 2.5);
  CHECK(fields.integer("i", 0, 0, 10) == 7);
  CHECK(fields.boolean("on", false));
  CHECK(fields.texts("t", 2) == std::vector<std::string>{"a", "b"});
  CHECK(fields.list("list")[0].integer("k", 0, 0, 1) == 1);
  CHECK_THROWS_WITH_AS(fields.list("list")[1].integer("k", 0, 0, 1), doctest::Contains("list[1].k"),
                       ParseError);
  CHECK_THROWS_AS(fields.integer("x", 0, 0, 10), ParseError);
  CHECK_THROWS_AS(fields.integer("i", 0, 0, 6), ParseError);
  CHECK_THROWS_AS(fields.number("name", 0, 0, 1), ParseError);
  CHECK_THROWS_AS(fields.texts("t", 1), ParseError);
  CHECK_THROWS_AS(fields.list("none"), ParseError);
  CHECK_THROWS_AS(fields.list("t"), ParseError);
  CHECK_THROWS_AS(Fields("[]"), ParseError);
  CHECK(Fields("").text("a", "b") == "b");
}
