// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM set a flag. A second signal ends the process.
#pragma once

namespace kaiseki::cli {

void catch_interrupts();
bool interrupted();

}  // namespace kaiseki::cli
