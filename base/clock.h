// SPDX-License-Identifier: MIT
// The clocks of the tree. Times are seconds.
#pragma once

#include <chrono>

namespace kaiseki {

/// The time of a clock that never jumps, for durations.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The seconds since 1970 by the system's clock. A user may set that clock.
inline double system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace kaiseki
