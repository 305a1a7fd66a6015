// SPDX-License-Identifier: MIT
// In a page, tensors are on the CPU, and no function of the modules uses these operations of other
// devices. The linker therefore leaves out their kernels.
#include "matrix/backend/cpu/kernels.h"

namespace kaiseki::cpu {

void add_cluster(KernelTable&) {}

}  // namespace kaiseki::cpu
