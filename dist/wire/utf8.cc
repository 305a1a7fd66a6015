// SPDX-License-Identifier: MIT
#include "dist/wire/utf8.h"

#include "base/utf8.h"

namespace kaiseki::dist {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const bool is_ascii = static_cast<unsigned char>(text[0]) < 0x80;
    const size_t length = is_ascii ? 1 : utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace kaiseki::dist
