// SPDX-License-Identifier: MIT
// Hexadecimal text of bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kaiseki {

/// The bytes as lower-case hexadecimal digits.
inline std::string to_hex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<size_t>(byte) >> 4];
    text += kDigits[std::to_integer<size_t>(byte) & 15];
  }
  return text;
}

/// Whether all characters are lower-case hexadecimal digits.
inline bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace kaiseki
