// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include "tests/nn/io/damage.h"

using namespace kaiseki;
using test::bytes_from;
using test::parse_error;

TEST_CASE("Base64: encodes and decodes the vectors of RFC 4648") {
  const char* vectors[][2] = {{"", ""},
                              {"f", "Zg=="},
                              {"fo", "Zm8="},
                              {"foo", "Zm9v"},
                              {"foob", "Zm9vYg=="},
                              {"fooba", "Zm9vYmE="},
                              {"foobar", "Zm9vYmFy"}};
  for (auto [plain, coded] : vectors) {
    CHECK(encode_base64(as_bytes(plain)) == coded);
    CHECK(decode_base64(coded, "t") == bytes_from(plain));
  }
  CHECK(decode_base64("Zm9v\r\n Yg", "t") == bytes_from("foob"));
}

TEST_CASE("Base64: decodes what it encodes, for all lengths and bytes") {
  Random random(3);
  for (size_t length = 0; length < 300; length += 7) {
    ByteVector bytes(length);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    CHECK(decode_base64(encode_base64(bytes), "t") == bytes);
  }
}

TEST_CASE("Base64: damaged text throws ParseError with the position") {
  for (const char* text : {"Z", "Zg=", "Zg===", "=", "====", "Z=g=", "Zg==Zg==", "Zm9v*",
                           "Zh==", "Zm9=", "Zm9v\x80", "Zm9vZ"}) {
    CAPTURE(text);
    CHECK(parse_error([&] { decode_base64(text, "net.json"); }).starts_with("net.json: character"));
  }
}
