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

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    into.any_strides();
    if (from->is_contiguous() && to->is_contiguous()) {
      const int64_t size = to->size();
      into.cut_at(size);
      into.reads(from, {size}, {0});
      into.writes(to, {size}, {0});
      return;
    }
    for (int64_t length : to->shape()) into.cut_at(length);
    into.reads(from, from->shape(), {0, 1, 2, 3, 4, 5, 6, 7});
    into.writes(to, to->shape(), {0, 1, 2, 3, 4, 5, 6, 7});
  }
};

/// Sets every element of a contiguous tensor. The type can represent the value.
struct FillArgs {
  Tensor* output;
  double value;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const int64_t size = output->size();
    into.cut_at(size);
    into.writes(output, {size}, {0});
  }
};

inline constexpr Operation<CopyArgs> kCopy{"copy"};
inline constexpr Operation<FillArgs> kFill{"fill"};

}  // namespace kaiseki
