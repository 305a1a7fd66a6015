// SPDX-License-Identifier: MIT
// Hashes, keyed hashes and random bytes, from OpenSSL's libcrypto.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nn/io/bytes.h"

namespace kaiseki::dist {

/// Lower-case hexadecimal digits.
std::string to_hex(nn::ByteView bytes);

/// SHA-256 of what comes in pieces.
class Hasher {
 public:
  Hasher();
  void update(nn::ByteView bytes);
  /// 64 hexadecimal digits. The object is then done.
  std::string finish();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

std::string sha256_hex(nn::ByteView bytes);
/// 64 hexadecimal digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view text);
/// Takes as long wherever the two differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
void random_bytes(std::span<std::byte> out);

}  // namespace kaiseki::dist
