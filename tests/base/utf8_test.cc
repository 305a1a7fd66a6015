// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <doctest/doctest.h>

using namespace kaiseki;

TEST_CASE("utf8: the first character and its code point") {
  CHECK(first_character("").bytes == 0);
  CHECK(first_character("a\xc3\xa9").bytes == 1);
  CHECK(first_character("\xc3\xa9").code == 0xe9);
  CHECK(first_character("\xe6\x87\x90").code == 0x61d0);
  const Utf8Character sushi = first_character("\xf0\x9f\x8d\xa3!");
  CHECK(sushi.bytes == 4);
  CHECK(sushi.code == 0x1f363);
  for (const char* text :
       {"\x9b", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\x87"})
    CHECK(first_character(text).bytes == 0);
}

TEST_CASE("utf8: a text is cut between characters") {
  CHECK(first_bytes("懐石", 6) == "懐石");
  CHECK(first_bytes("懐石", 5) == "懐");
  CHECK(first_bytes("懐石", 2) == "");
  CHECK(first_bytes("\xff\xff\xff", 2) == "\xff\xff");
}

TEST_CASE("utf8: control characters") {
  for (char32_t code : {0x0, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x2028, 0x202e, 0x2066, 0x2069})
    CHECK(is_control(code));
  for (char32_t code : {0x20, 0x7e, 0xa0, 0xe9, 0x2027, 0x202f, 0x61d0, 0x1f363})
    CHECK_FALSE(is_control(code));
}
