// SPDX-License-Identifier: MIT
// Elements by index along one axis.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// x is [outer, n, inner], its selected elements are [outer, count, inner]. take copies the
/// elements from x. put copies them into x. add_at adds them to x (f32 or i32, which wraps). put
/// and add_at go in the order of the indices. The indices are i32, from -n to n-1. The tensors are
/// contiguous.
struct IndexArgs {
  int64_t outer, n, inner, count;
  bool shared;  // indices [count] for all outer and inner; else [outer, count, inner]
  const Tensor* indices;
  const Tensor* from;  // take: x; put, add_at: the elements
  Tensor* to;          // take: the elements; put, add_at: x
};

inline constexpr Operation<IndexArgs> kTake{"take"};
inline constexpr Operation<IndexArgs> kPut{"put"};
inline constexpr Operation<IndexArgs> kAddAt{"add_at"};

}  // namespace kaiseki
