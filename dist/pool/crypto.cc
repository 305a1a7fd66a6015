// SPDX-License-Identifier: MIT
#include "dist/pool/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"
#include "base/hex.h"

namespace kaiseki::dist {
namespace {

void expect(bool done, std::string_view operation) {
  if (!done) throw Error(message(operation, "libcrypto failed"));
}

}  // namespace

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
  std::byte digest[32];
  unsigned length = 0;
  expect(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
              reinterpret_cast<const unsigned char*>(text.data()), text.size(),
              reinterpret_cast<unsigned char*>(digest), &length) != nullptr,
         "hmac");
  return to_hex(digest);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void random_bytes(std::span<std::byte> out) {
  expect(
      RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) == 1,
      "random");
}

}  // namespace kaiseki::dist
