// SPDX-License-Identifier: MIT
#include "dist/pool/text.h"

#include "base/utf8.h"

namespace kaiseki::dist {
std::string clean_text(std::string_view text, size_t limit) {
  std::string clean;
  while (!text.empty()) {
    const auto [size, code] = first_character(text);
    const std::string_view kept = size == 0 ? "?" : is_control(code) ? " " : text.substr(0, size);
    if (clean.size() + kept.size() > limit) break;
    clean += kept;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return clean;
}

}  // namespace kaiseki::dist
