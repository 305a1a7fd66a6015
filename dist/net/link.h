// SPDX-License-Identifier: MIT
// How fast a node's link to its coordinator is (GET and PUT /link).
#pragma once

#include <functional>

#include "dist/net/wire.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// Takes a second or so, up to ten more where others of the same address measure theirs; all zeros
/// when the coordinator is not there, or cannot tell.
/// `stop` is asked while it waits; true ends it.
LinkSpeed measure_link(WireOptions to, const std::function<bool()>& stop = {});

}  // namespace kaiseki::dist
