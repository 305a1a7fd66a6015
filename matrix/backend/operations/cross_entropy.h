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
};

inline constexpr Operation<CrossEntropyArgs> kCrossEntropyForward{"softmax_cross_entropy"};
inline constexpr Operation<CrossEntropyArgs> kCrossEntropyBackward{
    "softmax_cross_entropy_backward"};

}  // namespace kaiseki
