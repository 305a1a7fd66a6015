// SPDX-License-Identifier: MIT
#include "dist/pool/token.h"

#include <doctest/doctest.h>

#include "dist/pool/crypto.h"

using namespace kaiseki::dist;

TEST_CASE("token: it is read as it was signed, for its node and key only") {
  const std::string text = sign_token("key", "node", {7, 3, 1234567890});
  const auto token = read_token("key", "node", text);
  REQUIRE(token);
  CHECK(token->ticket == 7);
  CHECK(token->epoch == 3);
  CHECK(token->expiry == 1234567890);
  CHECK(!read_token("key", "other node", text));
  CHECK(!read_token("other key", "node", text));
}

TEST_CASE("token: a changed, missing or added character makes it invalid") {
  const std::string text = sign_token("key", "node", {7, 3, 1234567890});
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    CHECK(!read_token("key", "node", changed));
    CHECK(!read_token("key", "node", text.substr(0, i)));
    CHECK(!read_token("key", "node", text.substr(0, i) + "0" + text.substr(i)));
  }
  CHECK(!read_token("key", "node", text + "0"));
  CHECK(!read_token("key", "node", std::string(1 << 20, '1')));
  CHECK(!read_token("key", "node", "99999999999999999999.1.1.x"));
  CHECK(!read_token("key", "node", "..."));
}

TEST_CASE("token: fields cannot be shifted into each other") {
  CHECK(sign_token("key", "a", {11, 1, 1}) != sign_token("key", "a 1", {1, 1, 1}));
  CHECK(!read_token("key", "node", "1.13.5" + sign_token("key", "node", {11, 3, 5}).substr(6)));
}

TEST_CASE("crypto: known answers") {
  CHECK(hmac_sha256_hex("Jefe", "what do ya want for nothing?") ==  // RFC 4231, case 2
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK(!equal_in_constant_time("abc", "abd"));
  CHECK(!equal_in_constant_time("abc", "ab"));
}
