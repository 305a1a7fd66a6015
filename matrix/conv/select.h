// SPDX-License-Identifier: MIT
// Chooses the solver of a convolution and runs it.
#pragma once

#include "matrix/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki {

/// The first solver of the backend's list that can do it. Throws DeviceError when none can.
const ConvSolver& select_solver(const Backend& backend, const ConvProblem& problem);

/// Runs it with a workspace from the device's pool, or the next one for whose workspace there is
/// room. Throws OutOfMemory when there is room for none.
void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

}  // namespace kaiseki
