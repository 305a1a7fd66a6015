// SPDX-License-Identifier: MIT
// Places between two steps that must not be torn apart, by name: a test dies at one of them.
#pragma once

#include <string_view>

namespace kaiseki::dist {

using CrashHook = void (*)(std::string_view point);

/// Called at each place from now on; nullptr: nothing happens there.
void set_crash_hook(CrashHook hook);
void crash_point(std::string_view point);

}  // namespace kaiseki::dist
