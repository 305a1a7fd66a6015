// SPDX-License-Identifier: MIT
// Copies between another device than the CPU and a place of the CPU's store, such as a file. They
// go through a few MiB of the host's memory, and are done at the end of the call.
#pragma once

#include "matrix/memory/raw_memory.h"
#include "matrix/memory/spill.h"

namespace kaiseki {

void upload_from_place(RawMemory& device, void* block, const SpillPlace& place,
                       const CopyRegion& region);
void download_to_place(SpillPlace& place, RawMemory& device, void* block, const CopyRegion& region);

}  // namespace kaiseki
