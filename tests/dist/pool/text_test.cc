// SPDX-License-Identifier: MIT
#include "dist/pool/text.h"

#include <doctest/doctest.h>

using kaiseki::dist::clean_text;

TEST_CASE("clean_text: well-formed text is unchanged") {
  CHECK(clean_text("plain <img onerror=x> \"quoted\"", 100) == "plain <img onerror=x> \"quoted\"");
  CHECK(clean_text("懐石 é 🍣", 100) == "懐石 é 🍣");
}

TEST_CASE("clean_text: control characters become blanks") {
  CHECK(clean_text("a\x1b[2Jb\nc\td\x7f", 100) == "a [2Jb c d ");
  CHECK(clean_text("x\xc2\x9by", 100) == "x y");  // U+009B begins an escape sequence, too
  CHECK(clean_text(std::string("a\0b", 3), 100) == "a b");
}

TEST_CASE("clean_text: malformed bytes become question marks") {
  CHECK(clean_text("\xff", 100) == "?");
  CHECK(clean_text("\xc3", 100) == "?");                 // truncated
  CHECK(clean_text("\xc0\xaf", 100) == "??");            // an overlong form
  CHECK(clean_text("\xed\xa0\x80", 100) == "???");       // a surrogate
  CHECK(clean_text("\xf4\x90\x80\x80", 100) == "????");  // above U+10FFFF
}

TEST_CASE("clean_text: the limit splits no character") {
  CHECK(clean_text("ab懐石", 5) == "ab懐");
  CHECK(clean_text("ab懐石", 4) == "ab");
  CHECK(clean_text("abc", 0).empty());
}
