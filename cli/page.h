// SPDX-License-Identifier: MIT
// The page that trains (docs/web.md), embedded in the command.
#pragma once

#include "base/bytes.h"

namespace kaiseki::cli {

/// Returns a tar of the files of KAISEKI_PAGE. Empty if the command was built without the page.
ByteView embedded_page();

}  // namespace kaiseki::cli
