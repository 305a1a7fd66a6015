// SPDX-License-Identifier: MIT
// Rows by index.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// gather: copies rows rows[i] of `table` [n, width] to output [count, width]. scatter_add adds
/// them back.
struct GatherArgs {
  int64_t n, width, count;
  const Tensor *table, *rows;  // rows: i32
  Tensor* output;
  const Tensor* source;  // scatter_add
  Tensor* table_out;     // scatter_add
};

inline constexpr Operation<GatherArgs> kGather{"gather"};
inline constexpr Operation<GatherArgs> kScatterAdd{"scatter_add"};

}  // namespace kaiseki
