// SPDX-License-Identifier: MIT
// The order of rows, and positions in sorted vectors. A NaN is the last, whatever the direction.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Writes for each row of [rows, n] the indices (i32) that sort it. Equal elements keep their
/// order. The first `leading` indices must be right. The others may have any values. Any type.
struct ArgsortArgs {
  int64_t rows, n, leading;
  bool descending;
  const Tensor* input;
  Tensor* output;
};

/// Writes for each value the number (i32) of elements of `sorted` [n] that are less than it. If
/// `right` is set, it counts the elements that are less or equal. Any type. The tensors are
/// contiguous.
struct SearchSortedArgs {
  int64_t n;
  bool right;
  const Tensor *sorted, *values;
  Tensor* output;
};

inline constexpr Operation<ArgsortArgs> kArgsort{"argsort"};
inline constexpr Operation<SearchSortedArgs> kSearchSorted{"searchsorted"};

}  // namespace kaiseki
