// SPDX-License-Identifier: MIT
// Hashes, keyed hashes and random bytes, from OpenSSL's libcrypto.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kaiseki::dist {

/// The bytes as lower-case hexadecimal digits.
std::string to_hex(ByteView bytes);

/// SHA-256 of bytes that come in parts.
class Hasher {
 public:
  Hasher();
  void update(ByteView bytes);
  /// Returns 64 hexadecimal digits. Call nothing else afterwards.
  std::string finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string sha256_hex(ByteView bytes);
/// Returns 64 hexadecimal digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view text);
/// Its time does not depend on where the two differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
void random_bytes(std::span<std::byte> out);

}  // namespace kaiseki::dist
