// SPDX-License-Identifier: MIT
#include "tests/support/source_dir.h"

namespace kaiseki::test {

std::string source_dir() { return KAISEKI_SOURCE_DIR; }

}  // namespace kaiseki::test
