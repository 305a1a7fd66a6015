// SPDX-License-Identifier: MIT
// Rows that a work-item of a CPU keeps in private memory, sorted by their place within a stride, as
// pool_planes.cl and conv_depthwise.cl do.
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki::opencl {

/// Windows of `taps` elements along one axis.
struct Rows {
  int64_t in, out, stride, padding, taps, dilation = 1;
};

/// Whether private memory holds them: it has to for as many elements as the padded row, a window
/// and the stride take.
bool fits_private_memory(const Rows& rows);

/// Defines ROW, MARGIN and PARTS.
std::string row_options(const Rows& rows);

}  // namespace kaiseki::opencl
