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

/// Sets every element of a contiguous f32, f64 or i32 tensor.
struct FillArgs {
  Tensor* output;
  double value;
};

inline constexpr Operation<CopyArgs> kCopy{"copy"};
inline constexpr Operation<FillArgs> kFill{"fill"};

}  // namespace kaiseki
