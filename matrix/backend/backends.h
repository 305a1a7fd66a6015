// SPDX-License-Identifier: MIT
// The entries of the built-in backends. Each is defined in its backend's folder.
#pragma once

#include <span>

#include "matrix/backend/entry.h"

namespace kaiseki {

const BackendEntry& cpu_backend_entry();
const BackendEntry& opencl_backend_entry();

std::span<const BackendEntry* const> built_in_backends();

}  // namespace kaiseki
