// SPDX-License-Identifier: MIT
#pragma once

namespace kaiseki {

/// Whether devices other than the CPU can be in the program. WebAssembly leaves out the code for
/// them.
#ifdef __EMSCRIPTEN__
inline constexpr bool kHasDevices = false;
#else
inline constexpr bool kHasDevices = true;
#endif

}  // namespace kaiseki
