// SPDX-License-Identifier: MIT
// Chooses how a convolution is computed with the workspace that there is, and computes it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "matrix/conv/tuning.h"

namespace kaiseki {

struct ConvPlan {
  std::vector<const ConvSolver*> order;  // the first that has room and is not refused runs
  int64_t pieces = 1;  // of the minibatch, each as large as the others or one less
};

/// The way that takes the least time, as far as it was measured: the fastest solver among those
/// that have room, or a faster one on pieces of the minibatch so small that it has. Measures by
/// tune_convolution().
ConvPlan conv_plan(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// Computes it by its plan, and registers with the device's Workspace what would make it faster. A
/// solver whose kernels the driver refuses gives way to the next. Throws KernelError when none is
/// left for that reason, OutOfMemory when none has room, DeviceError when none can.
void run_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// Called with every convolution of this process after it ran; an empty function ends it.
using ConvObserver = std::function<void(Backend& backend, const ConvProblem& problem)>;
void observe_convolutions(ConvObserver observer);

}  // namespace kaiseki
