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
/// `reduced`. `kind` is not prod, any or all. Input (viewed as `shape`) and output are contiguous.
/// Neighboring axes are already merged if all are reduced or none is.
struct ReduceArgs {
  Reduction kind;
  const Tensor* input;
  Shape shape;
  std::array<bool, Shape::kMaxRank> reduced{};
  Tensor* output;
  float beta = 0;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const bool adds = kind == Reduction::sum || kind == Reduction::sum_of_squares;
    const Shape whole = shape;
    Shape kept, of_input, of_output;  // the last two: the axes, by cut
    for (int i = 0; i < whole.rank(); ++i) {
      if (reduced[i] && !adds) continue;
      if (reduced[i])
        into.cut_sum(shape[i], beta);
      else
        into.cut(shape[i]);
      of_input.push_back(i);
      of_output.push_back(reduced[i] ? kWhole : kept.rank());
      if (!reduced[i]) kept.push_back(whole[i]);
    }
    into.reads(input, whole, of_input);
    into.updates(output, kept, of_output);
  }
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
