// SPDX-License-Identifier: MIT
// Passes over samples in blocks of rows, so that no temporary tensor has the size of x.
#pragma once

#include <algorithm>
#include <cstdint>

#include "matrix/ceil_div.h"
#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The number of rows of a block: about 1 MiB, and at least 64 rows.
inline int64_t rows_per_block(int64_t features) {
  constexpr int64_t kElements = 1 << 18, kLeast = 64;
  return std::max(kLeast, kElements / std::max<int64_t>(1, features));
}

/// Calls body(rows, begin) for consecutive rows of x [n, features]. The blocks depend only on the
/// shape of x, and whether it is on the CPU. On other devices there are at most 64 blocks.
template <class Body>
void for_each_row_block(const Tensor& x, const Body& body) {
  constexpr int64_t kMostBlocks = 64, kLarger = 4;
  int64_t step = rows_per_block(x.dim(1));
  if (!x.device().is_cpu()) step = std::max(kLarger * step, ceil_div(x.dim(0), kMostBlocks));
  for (int64_t begin = 0; begin < x.dim(0); begin += step)
    body(x.slice(0, begin, std::min(step, x.dim(0) - begin)), begin);
}

}  // namespace kaiseki::ml
