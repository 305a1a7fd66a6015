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

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const int64_t size = output->size();
    into.cut_at(size);
    into.reads(input, {size}, {0});
    into.writes(output, {size}, {0});
  }
};

inline constexpr Operation<CastArgs> kCast{"cast"};

}  // namespace kaiseki
