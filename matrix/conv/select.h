// SPDX-License-Identifier: MIT
// Chooses the solver of a convolution and runs it.
#pragma once

#include "matrix/backend.h"
#include "matrix/conv/solver.h"

namespace kaiseki {

/// Runs the first solver of the backend's list that can do it and for whose workspace, taken from
/// the device's pool, there is room. One whose kernels the driver refuses gives way to the next.
/// Throws KernelError when none is left for that reason, OutOfMemory when none has room,
/// DeviceError when none can.
void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

}  // namespace kaiseki
