// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/rows.h"

#include <algorithm>
#include <bit>

#include "matrix/backend/opencl/launch.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kMostElements = 2048;

int64_t whole_row(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(std::max<uint64_t>(8, static_cast<uint64_t>(n))));
}

}  // namespace

bool fits_private_memory(const Rows& rows) {
  const int64_t row = std::max(rows.in + 2 * rows.padding, rows.out * rows.stride);
  return row + 16 * rows.stride + rows.dilation * rows.taps <= kMostElements;
}

std::string row_options(const Rows& rows) {
  const int64_t columns = whole_row(rows.out);
  const int64_t margin = ceil_div(rows.padding, rows.stride);
  const int64_t last =
      (rows.dilation * (rows.taps - 1) - rows.padding + margin * rows.stride) / rows.stride;
  return define("ROW", columns) + define("MARGIN", margin) +
         define("PARTS", std::max(last + columns, margin + whole_row(rows.in / rows.stride + 1)));
}

}  // namespace kaiseki::opencl
