// SPDX-License-Identifier: MIT
// Backward-filter as dot products of rows of dy and rows of the packed input. The lanes hold
// pixels. Supports any problem; fastest with few input channels.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& dot_filter_solver();

}  // namespace kaiseki
