// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace kaiseki;

namespace {

struct Named {
  std::string str() const { return "[2, 3]"; }
};

}  // namespace

TEST_CASE("text: values of several types follow each other") {
  CHECK(text_from() == "");
  CHECK(text_from("a ", std::string("b "), std::string_view("c "), 'd') == "a b c d");
  CHECK(text_from(-3, ' ', uint8_t{7}, ' ', UINT64_MAX) == "-3 7 18446744073709551615");
  CHECK(text_from(INT64_MIN) == "-9223372036854775808");
  CHECK(text_from(true, false) == "10");
  CHECK(text_from(Named{}) == "[2, 3]");
}

TEST_CASE("text: numbers have six significant digits") {
  CHECK(text_from(0.1, ' ', 1.0f, ' ', 1e300, ' ', 123456789.0) == "0.1 1 1e+300 1.23457e+08");
  CHECK(text_from(-0.0, ' ', 1.0 / 3) == "-0 0.333333");
  CHECK(text_from(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(text_from(std::nan("")) == "nan");
}

TEST_CASE("text: a number is the whole text and fits the type") {
  CHECK(parse_number<int>("-12") == -12);
  CHECK(parse_number<uint16_t>("65535") == 65535);
  CHECK(parse_number<double>("2.5e3") == 2500);
  CHECK_FALSE(parse_number<uint16_t>("65536"));
  CHECK_FALSE(parse_number<double>("1e999"));
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x"}) {
    CHECK_FALSE(parse_number<int64_t>(text));
    CHECK_FALSE(parse_number<double>(text));
  }
  CHECK_FALSE(parse_number<uint64_t>("-1"));
  CHECK_FALSE(parse_number<int>("1.5"));
}

TEST_CASE("text: decimals near 0 and too large ones have a value") {
  CHECK(parse_decimal("+1.5") == 1.5);
  CHECK(parse_decimal("1e-400") == 0);
  CHECK(std::signbit(*parse_decimal("-1e-400")));
  CHECK(parse_decimal("-1e999") == -std::numeric_limits<double>::max());
  CHECK(std::isinf(*parse_decimal("inf")));
  for (const char* text : {"", "+", "+-1", "++1", "1e999x", "x"}) CHECK_FALSE(parse_decimal(text));
}

TEST_CASE("text: trimmed() removes space at both ends only") {
  CHECK(trimmed(" \ta b\r ") == "a b");
  CHECK(trimmed("\ta ", " ") == "\ta");
  CHECK(trimmed(" \t").empty());
  CHECK(trimmed("").empty());
}
