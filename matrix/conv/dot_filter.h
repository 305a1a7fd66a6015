// SPDX-License-Identifier: MIT
// Backward-filter as dot products: rows of dy with rows of the packed input, pixels in the lanes.
// Any problem; best with few input channels.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& dot_filter_solver();

}  // namespace kaiseki
