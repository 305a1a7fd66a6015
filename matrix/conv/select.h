// SPDX-License-Identifier: MIT
// Chooses the solver of a convolution and runs it.
#pragma once

#include "matrix/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki {

/// Runs the first solver of the backend's list that can do it and for whose workspace, taken from
/// the device's pool, there is room. Throws DeviceError when none can, OutOfMemory when none has
/// room.
void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

}  // namespace kaiseki
