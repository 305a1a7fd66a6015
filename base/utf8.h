// SPDX-License-Identifier: MIT
// UTF-8 in names that come from files.
#pragma once

#include <cstddef>
#include <string_view>

namespace kaiseki {

/// Returns the number of bytes of the first character of `text`. Returns 0 for a control character
/// or invalid bytes.
size_t utf8_length(std::string_view text);

}  // namespace kaiseki
