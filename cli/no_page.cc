// SPDX-License-Identifier: MIT
#include "cli/page.h"

namespace kaiseki::cli {

ByteView embedded_page() { return {}; }

}  // namespace kaiseki::cli
