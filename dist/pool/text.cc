// SPDX-License-Identifier: MIT
#include "dist/pool/text.h"

#include <bit>
#include <cstdint>

namespace kaiseki::dist {
namespace {

/// Number of bytes of the first character; 0 if it is malformed. `code` becomes its code point.
size_t character(std::string_view text, uint32_t& code) {
  const auto first = static_cast<unsigned char>(text[0]);
  const auto size = static_cast<size_t>(std::countl_one(first));
  if (size == 0) return code = first, 1;
  if (size < 2 || size > 4 || size > text.size()) return 0;
  code = first & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code >= kLeast[size] && code < 0x110000 && !surrogate ? size : 0;
}

}  // namespace

std::string clean_text(std::string_view text, size_t limit) {
  std::string clean;
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t size = character(text, code);
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const std::string_view kept = size == 0 ? "?" : control ? " " : text.substr(0, size);
    if (clean.size() + kept.size() > limit) break;
    clean += kept;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return clean;
}

}  // namespace kaiseki::dist
