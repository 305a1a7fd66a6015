// SPDX-License-Identifier: MIT
// Copies and fills.
#pragma once

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Copies between tensors of the same shape and type with any strides.
struct CopyArgs {
  const Tensor* from;
  Tensor* to;
};

/// Sets every element of a contiguous tensor. The type can represent the value.
struct FillArgs {
  Tensor* output;
  double value;
};

inline constexpr Operation<CopyArgs> kCopy{"copy"};
inline constexpr Operation<FillArgs> kFill{"fill"};

}  // namespace kaiseki
