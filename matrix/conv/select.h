// SPDX-License-Identifier: MIT
// Selects a solver for a convolution within the available workspace, and runs it.
#pragma once

#include <functional>

#include "matrix/conv/solver.h"
#include "matrix/conv/tuning.h"

namespace kaiseki {

/// Computes the convolution with the fastest known solver that has room. If a faster solver has
/// room only for parts of the minibatch, it computes the minibatch in parts. If the policy wants
/// it, measures by measure_convolution(). Tells the device's Workspace the sizes that would be
/// faster. If the driver refuses a solver's kernels, the next solver runs. Throws KernelError if
/// all are refused, OutOfMemory if none has room, and DeviceError if no solver can compute it.
void run_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// Computes the convolution and args.pooling in one pass, with the solver that run_convolution()
/// would use. Creates the outputs of the pooling if they are empty tensors. Returns false and
/// changes nothing in three cases. The solver does not support pooling or has no memory for it.
/// Only parts of the minibatch have room. The convolution must be measured first.
bool run_pooled_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

/// Calls `observer` after every convolution of this process. An empty function removes the
/// observer.
using ConvObserver = std::function<void(Backend& backend, const ConvProblem& problem)>;
void observe_convolutions(ConvObserver observer);

}  // namespace kaiseki
