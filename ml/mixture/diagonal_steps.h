// SPDX-License-Identifier: MIT
// The expectation step for variances without covariances, in one pass over samples on the CPU.
#pragma once

#include "ml/mixture/gaussians.h"

namespace kaiseki::ml {

/// expectation() for x (f32 [n, features], contiguous) on the CPU and a model of type `diag` or
/// `spherical`. The result does not depend on the number of threads.
MixtureSums diagonal_expectation(const Tensor& x, const Gaussians& model);

}  // namespace kaiseki::ml
