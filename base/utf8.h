// SPDX-License-Identifier: MIT
// UTF-8 in names that come from files and from the network.
#pragma once

#include <cstddef>
#include <string_view>

namespace kaiseki {

struct Utf8Character {
  size_t bytes = 0;   // 0: the text is empty or its first bytes are not UTF-8 (RFC 3629)
  char32_t code = 0;  // the code point, such as U+00E9
};

/// Returns the first character of `text`.
Utf8Character first_character(std::string_view text);

/// Returns the start of `text`: as many whole characters as fit into `most` bytes.
std::string_view first_bytes(std::string_view text, size_t most);

/// Returns whether the character can move a terminal's cursor or reorder its line. These are the
/// C0 and C1 controls, the separators of lines, and the marks of text direction.
bool is_control(char32_t code);

}  // namespace kaiseki
