// SPDX-License-Identifier: MIT
// Measures a node's link to its coordinator (GET and PUT /link).
#pragma once

#include <functional>
#include <optional>

#include "dist/net/wire.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// Takes about a second. Takes up to ten seconds more if other nodes of the same address measure
/// too. Returns nothing if the coordinator does not answer or does not support it.
/// The function calls `stop` while it waits, and ends if that returns true.
std::optional<LinkSpeed> measure_link(WireOptions to, const std::function<bool()>& stop = {});

}  // namespace kaiseki::dist
