// SPDX-License-Identifier: MIT
// Depthwise convolution: a group is one input channel. Each plane is computed by itself, all
// directions; any filter, stride, padding and dilation, and up to four output channels a group.
// A NaN or an infinity in the input reaches all of its channel's filter gradient.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki {

const ConvSolver& depthwise_solver();

}  // namespace kaiseki
