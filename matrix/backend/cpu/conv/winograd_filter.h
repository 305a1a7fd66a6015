// SPDX-License-Identifier: MIT
// The gradient of a filter by Winograd's tiles. This is the transpose of F(m x m, r x r) in terms
// of its filter. For each element, it sums a matrix product over all tiles.
#pragma once

#include "matrix/backend/cpu/conv/winograd_kernels.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Workspace in bytes of a backward_filter problem that the form supports.
uint64_t winograd_filter_bytes(const WinogradForm& form, const ConvProblem& problem);
void run_winograd_filter(const WinogradForm& form, const ConvProblem& problem,
                         const ConvArgs& args);

}  // namespace kaiseki::conv
