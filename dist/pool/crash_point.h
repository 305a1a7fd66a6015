// SPDX-License-Identifier: MIT
// Named places between two steps of the pool, at which a test can end the process.
#pragma once

#include <string_view>

namespace kaiseki::dist {

using CrashHook = void (*)(std::string_view point);

/// Sets the function that each place calls. nullptr: none.
void set_crash_hook(CrashHook hook);
void crash_point(std::string_view point);

}  // namespace kaiseki::dist
