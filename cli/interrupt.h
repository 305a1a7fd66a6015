// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM as a flag: the first asks, the second ends the process as usual.
#pragma once

namespace kaiseki::cli {

void catch_interrupts();
bool interrupted();

}  // namespace kaiseki::cli
