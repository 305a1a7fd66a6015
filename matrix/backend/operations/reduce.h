// SPDX-License-Identifier: MIT
// Reductions over axes.
#pragma once

#include <array>
#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"

namespace kaiseki {

enum class Reduction : uint8_t { sum, mean, max, min, sum_of_squares, prod, any, all };

/// f32 or f64: output = reduction + beta * output, over the axes of `shape` with a flag in
/// `reduced`. Not for prod, any and all. Input (viewed as `shape`) and output are contiguous.
/// Neighboring axes are already merged if all are reduced or none is.
struct ReduceArgs {
  Reduction kind;
  const Tensor* input;
  Shape shape;
  std::array<bool, Shape::kMaxRank> reduced{};
  Tensor* output;
  float beta = 0;
};

/// The index (i32) of the first maximum or minimum over the middle of [outer, n, inner], for any
/// type. A NaN counts as the extreme value.
struct ArgReduceArgs {
  bool maximum;
  const Tensor* input;
  int64_t outer, n, inner;
  Tensor* output;
};

inline constexpr Operation<ReduceArgs> kReduce{"reduce"};
inline constexpr Operation<ArgReduceArgs> kArgReduce{"arg_reduce"};

}  // namespace kaiseki
