// SPDX-License-Identifier: MIT
// Rows of max pooling on the CPU, for convolutions with fused pooling.
#pragma once

#include <cstdint>

#include "matrix/backend/operations/pooling.h"

namespace kaiseki::cpu {

/// Computes rows begin..end of one output plane of max pooling. x holds the input rows that they
/// read, starting at row `x_row`. The values are those of the operation kPoolingForward.
void max_pool_rows(const PoolingArgs& args, int64_t begin, int64_t end, const float* x,
                   int64_t x_row, float* y, int32_t* indices);
/// Computes rows begin..end of one plane of dx, with the values of the operation kPoolingBackward.
/// begin and end are even. Rows outside the plane become 0. dy and indices are the whole plane.
void max_pool_backward_rows(const PoolingArgs& args, int64_t begin, int64_t end, const float* dy,
                            const int32_t* indices, float* dx);

}  // namespace kaiseki::cpu
