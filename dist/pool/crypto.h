// SPDX-License-Identifier: MIT
// Keyed hashes and random bytes, from OpenSSL's libcrypto.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kaiseki::dist {

/// Returns 64 hexadecimal digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view text);
/// Its time does not depend on where the two differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
void random_bytes(std::span<std::byte> out);

}  // namespace kaiseki::dist
