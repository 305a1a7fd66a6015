// SPDX-License-Identifier: MIT
// Chooses how a convolution is computed with the workspace that there is, and computes it.
#pragma once

#include <functional>

#include "matrix/conv/tuning.h"

namespace kaiseki {

/// Computes it the way that takes the least time, as far as it was measured: by the fastest solver
/// among those that have room, or by a faster one on pieces of the minibatch so small that it has.
/// Measures by tune_convolution(), and registers with the device's Workspace what would be faster.
/// A solver whose kernels the driver refuses gives way to the next. Throws KernelError when none is
/// left for that reason, OutOfMemory when none has room, DeviceError when none can.
void run_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// The same with args.pool, in one pass: by the solver that run_convolution() would take. Outputs
/// of the pooling that are no tensors are made. False, with none made and nothing added to a
/// gradient, where that solver does not pool or finds no memory for it, only pieces of the
/// minibatch have room, or the convolution is to be measured first.
bool run_pooled_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

/// Called with every convolution of this process after it ran; an empty function ends it.
using ConvObserver = std::function<void(Backend& backend, const ConvProblem& problem)>;
void observe_convolutions(ConvObserver observer);

}  // namespace kaiseki
