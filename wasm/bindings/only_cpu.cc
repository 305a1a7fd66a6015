// SPDX-License-Identifier: MIT
// In a page, tensors are on the CPU. Only kaiseki/arrays has these operations there. In the other
// modules only code for other devices uses them, so the linker leaves out their kernels.
#include "matrix/backend/kernel_table.h"

namespace kaiseki::cpu {

void add_cluster(KernelTable&) {}

}  // namespace kaiseki::cpu
