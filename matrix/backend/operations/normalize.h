// SPDX-License-Identifier: MIT
// Bytes to floats, by a table for each channel.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// output[n, c, i] = table[c, input[n, c, i]]. A table gives the same bits on every device. A
/// division in OpenCL would not.
struct NormalizeArgs {
  int64_t n, channels, inner;
  const Tensor *input, *table;  // u8 [n, channels, inner], f32 [channels, 256]
  Tensor* output;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape shape = {n, channels * inner};
    into.cut(n);
    into.reads(input, shape, {0});
    into.reads(table, table->shape(), {kWhole});
    into.writes(output, shape, {0});
  }
};

inline constexpr Operation<NormalizeArgs> kNormalize{"normalize"};

}  // namespace kaiseki
