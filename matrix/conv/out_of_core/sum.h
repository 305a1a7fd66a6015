// SPDX-License-Identifier: MIT
// Sums over the channels of several pieces.
#pragma once

#include "matrix/activation.h"
#include "matrix/tensor.h"

namespace kaiseki::conv {

/// sum = sum + part. Both are contiguous and of one shape.
void add_part(Tensor& sum, const Tensor& part);

/// y = activation(y), for a contiguous tensor.
void activate(Tensor& y, Activation activation, float slope);

}  // namespace kaiseki::conv
