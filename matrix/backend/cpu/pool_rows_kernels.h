// SPDX-License-Identifier: MIT
// Vector kernels of pooling with windows of any size whose columns are 1 or 2 apart: neighbouring
// outputs of a row are the lanes. They give the bits of the loops over single windows in pool.cc.
#pragma once

#include "matrix/backend.h"

namespace kaiseki::cpu {

/// Whether the functions below take this pooling: columns 1 or 2 apart, rows of 4 outputs or more.
bool pools_rows(const PoolArgs& p);

/// Pools `planes` planes x [planes, in_h, in_w] into y [planes, out_h, out_w], and `indices` of
/// that shape for a maximum. Uses this thread's scratch.
void pool_rows(const PoolArgs& p, int64_t planes, const float* x, float* y, int32_t* indices);
void average_rows_backward(const PoolArgs& p, int64_t planes, const float* dy, float* dx);

}  // namespace kaiseki::cpu
