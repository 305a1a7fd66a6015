// SPDX-License-Identifier: MIT
// No model of ml/ uses the operations of networks. These functions replace their kernels, so that
// the linker leaves them out of the module for classic learning.
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/kernel_table.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers() { return {}; }

namespace cpu {

void add_batch_norm(KernelTable&) {}
void add_lrn(KernelTable&) {}
void add_normalize(KernelTable&) {}
void add_pooling(KernelTable&) {}

}  // namespace cpu
}  // namespace kaiseki
