// SPDX-License-Identifier: MIT
// The convolution solvers of the CPU backend, best first.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers();

}  // namespace kaiseki
