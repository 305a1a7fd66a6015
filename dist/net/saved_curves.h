// SPDX-License-Identifier: MIT
// Saves training curves as text, so that the console has them after a restart.
#pragma once

#include <string>
#include <string_view>

#include "dist/net/curves.h"

namespace kaiseki::dist {

/// One line of JSON for each project. The oldest projects are left out if the text would have more
/// than `most_bytes`.
std::string saved_curves(const Curves& curves, size_t most_bytes);
/// Throws ParseError if a line is not from saved_curves(). Lines before it count.
void restore_curves(std::string_view saved, Curves& curves);

}  // namespace kaiseki::dist
