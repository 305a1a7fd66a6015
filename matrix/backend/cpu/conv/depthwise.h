// SPDX-License-Identifier: MIT
// Depthwise convolution: each group has one input channel. Computes each plane separately, in all
// directions. Supports any filter, stride, padding and dilation, and up to four output channels per
// group. A NaN or an infinity in the input affects the filter gradient of its whole channel.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& depthwise_solver();

}  // namespace kaiseki
