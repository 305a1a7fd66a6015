// SPDX-License-Identifier: MIT
#include "dist/wire/utf8.h"

#include <doctest/doctest.h>

#include <string>

using kaiseki::dist::is_utf8;

TEST_CASE("UTF-8: the first and last character of each length") {
  for (const char* text : {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(is_utf8(text));
  CHECK(is_utf8(std::string_view("\0", 1)));
}

TEST_CASE("UTF-8: sequences that RFC 3629 forbids") {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "a\xfe", "\xf0\x90\x80"})
    CHECK_FALSE(is_utf8(text));
}
