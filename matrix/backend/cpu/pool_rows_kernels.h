// SPDX-License-Identifier: MIT
// Vector kernels for pooling with any window size and a column stride of 1 or 2. The lanes hold
// neighboring outputs of a row. The results have the same bits as the scalar loops in pool.cc.
#pragma once

#include "matrix/backend/operations/pool.h"

namespace kaiseki::cpu {

/// Returns whether the functions below support this pooling. They need column stride 1 or 2, and
/// output rows of 4 or more elements.
bool pools_rows(const PoolArgs& p);

/// Pools x [planes, in_h, in_w] into y [planes, out_h, out_w]. Max pooling also writes `indices` of
/// that shape. Uses this thread's scratch memory.
void pool_rows(const PoolArgs& p, int64_t planes, const float* x, float* y, int32_t* indices);
void average_rows_backward(const PoolArgs& p, int64_t planes, const float* dy, float* dx);

}  // namespace kaiseki::cpu
