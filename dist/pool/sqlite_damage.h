// SPDX-License-Identifier: MIT
// The messages about stored rows that a flipped byte has changed.
#pragma once

#include "base/error.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

Message damage_of_result(TicketId ticket);
Message damage_of_input(TicketId ticket);

}  // namespace kaiseki::dist
