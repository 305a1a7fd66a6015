// SPDX-License-Identifier: MIT
// Reductions of every element type. f32 sums, means and extremes have their own operation
// (matrix/backend/operations/reduce.h).
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// The reduction over the middle of [outer, n, inner] to [outer, inner]. sum and prod give f32 for
/// f32, f64 for f64, else i32, which wraps. max and min give the type of the input. any and all
/// give bool. The tensors are contiguous. For max and min, n > 0.
struct FoldArgs {
  Reduction kind;
  int64_t outer, n, inner;
  const Tensor* input;
  Tensor* output;
};

/// The sums, products, maxima or minima of all elements up to each one along the middle of [outer,
/// n, inner]. The types are those of FoldArgs. A NaN propagates.
struct ScanArgs {
  Reduction kind;
  int64_t outer, n, inner;
  const Tensor* input;
  Tensor* output;
};

inline constexpr Operation<FoldArgs> kFold{"fold"};
inline constexpr Operation<ScanArgs> kScan{"scan"};

}  // namespace kaiseki
