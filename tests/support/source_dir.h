// SPDX-License-Identifier: MIT
// The folder of the project, which has files that tests read.
#pragma once

#include <string>

namespace kaiseki::test {

/// Returns the folder without a slash at its end.
std::string source_dir();

}  // namespace kaiseki::test
