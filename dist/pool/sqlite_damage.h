// SPDX-License-Identifier: MIT
// The messages about stored rows that a flipped byte has changed.
#pragma once

#include <string>

#include "dist/pool/types.h"

namespace kaiseki::dist {

std::string damage_of_result(TicketId ticket);
std::string damage_of_input(TicketId ticket);

}  // namespace kaiseki::dist
