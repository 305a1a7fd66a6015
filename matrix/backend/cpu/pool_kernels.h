// SPDX-License-Identifier: MIT
// Vector kernels of the commonest pooling, window 2x2 and stride 2, on rows of one output row.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

/// y[j] and indices[j] of columns 0..count from input rows `top` and the one `pitch` floats below;
/// `first` is the position of top[0] in its plane.
void max_row_2x2(const float* top, int64_t pitch, int64_t count, int32_t first, float* y,
                 int32_t* indices);
/// Writes columns 0..2*count of both input rows: dy where an index points, zeros elsewhere.
void max_row_2x2_backward(const float* dy, const int32_t* indices, int64_t pitch, int64_t count,
                          int32_t first, float* top);
void average_row_2x2(const float* top, int64_t pitch, int64_t count, float* y);
void average_row_2x2_backward(const float* dy, int64_t pitch, int64_t count, float* top);

}  // namespace kaiseki::cpu
