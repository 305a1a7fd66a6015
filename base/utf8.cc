// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <algorithm>

namespace kaiseki {

Utf8Character first_character(std::string_view text) {
  auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return {text.empty() ? size_t{0} : size_t{1}, first};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (first < 0xc2 || first > 0xf4 || byte(1) < low || byte(1) > high) return {};
  char32_t code = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {length, code};
}

std::string_view first_bytes(std::string_view text, size_t most) {
  size_t end = 0;
  while (end < text.size()) {
    const size_t bytes = std::max<size_t>(1, first_character(text.substr(end)).bytes);
    if (end + bytes > most) break;
    end += bytes;
  }
  return text.substr(0, end);
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace kaiseki
