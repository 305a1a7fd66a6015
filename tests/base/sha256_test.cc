// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include <doctest/doctest.h>

#include <cstdio>

using namespace kaiseki;

TEST_CASE("SHA-256: gives the vectors of FIPS 180-4 for any division of the input") {
  CHECK(sha256({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(as_bytes("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  ByteVector million(1'000'000, std::byte{'a'});
  Sha256 hash;
  for (size_t at = 0, step = 1; at < million.size(); at += step, step = step % 97 + 1)
    hash.update(ByteView(million).subspan(at, std::min(step, million.size() - at)));
  CHECK(hash.finish() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256: the processor's instructions give the same result") {
  if (!has_sha256_instructions())
    std::puts("SKIPPED: SHA-256 by instructions: this processor has none");
  ByteVector bytes(7 * 64 + 1);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i * i * 2654435761 >> 13);
  for (size_t count = 0; count <= 7 && has_sha256_instructions(); ++count) {
    Sha256State plain = {1, 0xffffffff, 3, 0x80000000, 5, 6, 7, static_cast<uint32_t>(count)};
    Sha256State fast = plain;
    sha256_blocks(plain, bytes.data() + 1, count);
    sha256_blocks_by_instructions(fast, bytes.data() + 1, count);
    CHECK(fast == plain);
  }
}
