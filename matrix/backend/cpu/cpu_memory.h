// SPDX-License-Identifier: MIT
// The CPU's memory. Tensors can wait in a store (matrix/memory/spill.h). Copies to and from it run
// beside the program.
#pragma once

#include "matrix/memory/raw_memory.h"

namespace kaiseki {

RawMemory& cpu_memory();

/// Waits for the copies between the CPU's memory and its store.
void finish_cpu_copies();

}  // namespace kaiseki
