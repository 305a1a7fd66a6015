// SPDX-License-Identifier: MIT
// Backward-filter as a matrix product. The input is packed with its channels last. For every pixel,
// the taps of a filter row are then one contiguous run. Pixels are summed in registers. Any
// problem; fastest with many input channels.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& outer_filter_solver();

}  // namespace kaiseki
