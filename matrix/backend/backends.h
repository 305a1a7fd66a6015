// SPDX-License-Identifier: MIT
// The built-in backends. Each entry is defined in its backend's folder.
#pragma once

#include <span>

#include "matrix/backend/entry.h"

namespace kaiseki {

const BackendEntry& cpu_backend_entry();
/// The CPU, then the backends of cmake/backends.cmake.
std::span<const BackendEntry* const> built_in_backends();

}  // namespace kaiseki
