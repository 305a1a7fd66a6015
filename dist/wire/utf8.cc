// SPDX-License-Identifier: MIT
#include "dist/wire/utf8.h"

#include "base/utf8.h"

namespace kaiseki::dist {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = first_character(text).bytes;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace kaiseki::dist
