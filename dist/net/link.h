// SPDX-License-Identifier: MIT
// How fast a node's link to its coordinator is (GET and PUT /link).
#pragma once

#include "dist/net/wire.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// Takes a second or so, up to ten more where others of the same address measure theirs; all zeros
/// when the coordinator is not there, or cannot tell.
LinkSpeed measure_link(WireOptions to);

}  // namespace kaiseki::dist
