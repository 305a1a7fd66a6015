// SPDX-License-Identifier: MIT
// Checks whether bytes are UTF-8.
#pragma once

#include <string_view>

namespace kaiseki::dist {

/// UTF-8 by RFC 3629: shortest forms only, no surrogates, no code point above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace kaiseki::dist
