// SPDX-License-Identifier: MIT
// UTF-8 in names that come from files.
#pragma once

#include <cstddef>
#include <string_view>

namespace kaiseki::nn {

/// Bytes of the character that `text` begins with; 0 when it is none, or a control character.
size_t utf8_length(std::string_view text);

}  // namespace kaiseki::nn
