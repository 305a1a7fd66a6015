// SPDX-License-Identifier: MIT
// Conversions between f64 and other types. Expressions convert the others
// (operations/elementwise.h).
#pragma once

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Converts the elements to the type of the output. One of the two types is f64. From f64 to i32 or
/// u8, the integer part saturates, and a NaN becomes 0. The tensors are contiguous.
struct CastArgs {
  const Tensor* input;
  Tensor* output;
};

inline constexpr Operation<CastArgs> kCast{"cast"};

}  // namespace kaiseki
