// SPDX-License-Identifier: MIT
// The expectation step of the EM algorithm.
#pragma once

#include "ml/mixture/gaussians.h"

namespace kaiseki::ml {

/// Computes the responsibilities of x [n, features], contiguous, and adds their sums.
MixtureSums expectation(const Tensor& x, const Gaussians& model, MixtureProducts products);

}  // namespace kaiseki::ml
