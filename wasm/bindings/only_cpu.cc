// SPDX-License-Identifier: MIT
// Pages have only the CPU. There, only kaiseki/arrays calls these operations. This stub leaves
// their kernels out of the other modules.
#include "matrix/backend/kernel_table.h"

namespace kaiseki::cpu {

void add_cluster(KernelTable&) {}

}  // namespace kaiseki::cpu
