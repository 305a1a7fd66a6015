// SPDX-License-Identifier: MIT
// Rows that a work-item of a CPU holds in private memory, ordered by their position within a
// stride. pooling_planes.cl and conv_depthwise.cl use them.
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki::opencl {

/// Windows of `taps` elements along one axis.
struct Rows {
  int64_t in, out, stride, padding, taps, dilation = 1;
};

/// Returns whether private memory can hold the rows. It needs as many elements as the padded row, a
/// window and the stride.
bool fits_private_memory(const Rows& rows);

/// Defines ROW, MARGIN and PARTS.
std::string row_options(const Rows& rows);

}  // namespace kaiseki::opencl
