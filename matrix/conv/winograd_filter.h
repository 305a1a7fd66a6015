// SPDX-License-Identifier: MIT
// The gradient of a filter by Winograd's tiles: the transpose of F(m x m, r x r) in its filter,
// which sums a product of matrices over all tiles for each element.
#pragma once

#include "matrix/conv/solver.h"
#include "matrix/conv/winograd_kernels.h"

namespace kaiseki::conv {

/// Of a backward_filter problem that the form fits.
uint64_t winograd_filter_bytes(const WinogradForm& form, const ConvProblem& problem);
void run_winograd_filter(const WinogradForm& form, const ConvProblem& problem,
                         const ConvArgs& args);

}  // namespace kaiseki::conv
