// SPDX-License-Identifier: MIT
// Text from nodes, which may be anything: names, error messages.
#pragma once

#include <string>
#include <string_view>

namespace kaiseki::dist {

/// At most `limit` bytes of well-formed UTF-8 without control characters: what is neither becomes
/// a question mark or a blank. (It can still be HTML: pages have to show it as text.)
std::string clean_text(std::string_view text, size_t limit);

}  // namespace kaiseki::dist
