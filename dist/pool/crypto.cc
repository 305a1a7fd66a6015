// SPDX-License-Identifier: MIT
#include "dist/pool/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

void expect(bool done, std::string_view operation) {
  if (!done) throw Error(message(operation, "libcrypto failed"));
}

EVP_MD_CTX* context_of(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::byte byte : bytes) {
    text += "0123456789abcdef"[static_cast<int>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<int>(byte) & 15];
  }
  return text;
}

void Hasher::Free::operator()(void* context) const { EVP_MD_CTX_free(context_of(context)); }

Hasher::Hasher() : context_(EVP_MD_CTX_new()) {
  expect(context_ && EVP_DigestInit_ex(context_of(context_.get()), EVP_sha256(), nullptr) == 1,
         "sha256");
}

void Hasher::update(ByteView bytes) {
  expect(EVP_DigestUpdate(context_of(context_.get()), bytes.data(), bytes.size()) == 1, "sha256");
}

std::string Hasher::finish() {
  std::byte digest[32];
  expect(EVP_DigestFinal_ex(context_of(context_.get()), reinterpret_cast<unsigned char*>(digest),
                            nullptr) == 1,
         "sha256");
  return to_hex(digest);
}

std::string sha256_hex(ByteView bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

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
