// SPDX-License-Identifier: MIT
// Backward-filter as a matrix product: the input is packed with its channels last, so that the
// taps of one filter row are one contiguous run for every pixel, and pixels are summed in
// registers. Any problem; best with many input channels.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& outer_filter_solver();

}  // namespace kaiseki
