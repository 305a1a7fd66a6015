// SPDX-License-Identifier: MIT
// The convolution solvers of the CPU backend, ordered by preference.
#pragma once

#include <span>

#include "matrix/conv/solver.h"

namespace kaiseki {

std::span<const ConvSolver* const> cpu_conv_solvers();

}  // namespace kaiseki
