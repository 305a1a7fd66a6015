// SPDX-License-Identifier: MIT
// Names and error messages from nodes, which may contain any bytes.
#pragma once

#include <string>
#include <string_view>

namespace kaiseki::dist {

/// At most `limit` bytes of well-formed UTF-8. A malformed byte becomes a question mark, a control
/// character a blank. The text can still contain HTML: pages have to show it as text.
std::string clean_text(std::string_view text, size_t limit);

}  // namespace kaiseki::dist
