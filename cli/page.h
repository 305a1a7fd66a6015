// SPDX-License-Identifier: MIT
// The page that trains (docs/web.md), in the command itself.
#pragma once

#include "nn/io/bytes.h"

namespace kaiseki::cli {

/// A tar of the files of KAISEKI_PAGE; empty where the command was built without it.
nn::ByteView embedded_page();

}  // namespace kaiseki::cli
