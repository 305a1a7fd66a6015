// SPDX-License-Identifier: MIT
// Softmax cross-entropy.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Softmax cross-entropy of rows of `logits` [rows, classes] with `labels` (i32, 0..classes-1).
/// A label of -1 is ignored: loss and gradient 0.
struct CrossEntropyArgs {
  int64_t rows, classes;
  const Tensor *logits, *labels;
  Tensor *probabilities, *losses;  // forward: [rows, classes], [rows]
  const Tensor* probabilities_in;  // backward
  float scale;                     // backward: d logits = scale * (probabilities - onehot)
  Tensor* grad_logits;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape shape = {rows, classes};
    into.cut(rows);
    into.reads(logits, shape, {0});
    into.reads(labels, {rows}, {0});
    into.writes(probabilities, shape, {0});
    into.writes(losses, {rows}, {0});
    into.reads(probabilities_in, shape, {0});
    into.writes(grad_logits, shape, {0});
  }
};

inline constexpr Operation<CrossEntropyArgs> kCrossEntropyForward{"softmax_cross_entropy"};
inline constexpr Operation<CrossEntropyArgs> kCrossEntropyBackward{
    "softmax_cross_entropy_backward"};

}  // namespace kaiseki
