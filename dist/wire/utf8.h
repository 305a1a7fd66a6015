// SPDX-License-Identifier: MIT
// Whether bytes are text.
#pragma once

#include <string_view>

namespace kaiseki::dist {

/// UTF-8 as RFC 3629 has it: shortest forms, no surrogates, nothing over U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace kaiseki::dist
