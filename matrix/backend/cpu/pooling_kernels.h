// SPDX-License-Identifier: MIT
// Vector kernels for the most common pooling on one plane: window 2x2, stride 2, no padding.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

/// Rows of a plane: x [.., in_w], y [out_h, out_w]. 2 * out_h and 2 * out_w lie within x. Indices
/// count from `first` elements before x.
struct Plane2x2 {
  int64_t in_w, out_h, out_w, first;
};

void max_plane_2x2(const Plane2x2& plane, const float* x, float* y, int32_t* indices);
/// Writes every element that the windows cover: dy at the elements that an index points to, 0
/// elsewhere.
void max_plane_2x2_backward(const Plane2x2& plane, const float* dy, const int32_t* indices,
                            float* dx);
void average_plane_2x2(const Plane2x2& plane, const float* x, float* y);
void average_plane_2x2_backward(const Plane2x2& plane, const float* dy, float* dx);

}  // namespace kaiseki::cpu
