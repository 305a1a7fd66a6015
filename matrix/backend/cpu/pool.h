// SPDX-License-Identifier: MIT
// Max and average pooling on the CPU.
#pragma once

#include "matrix/backend.h"

namespace kaiseki::cpu {

void pool_forward(const PoolArgs& args);
void pool_backward(const PoolArgs& args);

/// The maxima of the rows begin..end of one plane's output, from the input's rows that they read,
/// of which x begins with row `x_row`. Gives what pool_forward() gives.
void max_pool_rows(const PoolArgs& args, int64_t begin, int64_t end, const float* x, int64_t x_row,
                   float* y, int32_t* indices);
/// The rows begin..end, both even, of one plane's dx as pool_backward() gives them, and zeros where
/// they lie outside of the plane. dy and indices are the plane's whole.
void max_pool_backward_rows(const PoolArgs& args, int64_t begin, int64_t end, const float* dy,
                            const int32_t* indices, float* dx);

}  // namespace kaiseki::cpu
