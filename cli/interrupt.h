// SPDX-License-Identifier: MIT
// Ctrl-C, SIGTERM and a closed terminal (SIGHUP) set a flag. A second Ctrl-C or SIGTERM ends the
// process.
#pragma once

namespace kaiseki::cli {

void catch_interrupts();
/// The signals end the process again.
void release_interrupts();
bool interrupted();
/// Has the effect of a signal: interrupted() is true from now on.
void interrupt();

}  // namespace kaiseki::cli
