// SPDX-License-Identifier: MIT
// Suggestions for mistyped commands and options.
#pragma once

#include <string>
#include <vector>

namespace kaiseki::cli {

/// Returns the candidate that a mistyped word most likely means. Either the word is the start of
/// exactly one candidate, or at most a third of the word's letters differ. Dashes at the front do
/// not count. Returns "" if there is none.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace kaiseki::cli
