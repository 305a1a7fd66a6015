// SPDX-License-Identifier: MIT
// Softmax, log-softmax and softmax cross-entropy. The maximum is subtracted first, so finite input
// never overflows. -infinity gives 0 (log: -infinity). Rows of only -infinity, and rows with
// +infinity or NaN, give NaN.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);
/// Computes dx from y = softmax(x) or log_softmax(x), and dy.
Tensor softmax_backward(const Tensor& y, const Tensor& dy, int axis = -1);
Tensor log_softmax_backward(const Tensor& y, const Tensor& dy, int axis = -1);

struct CrossEntropy {
  Tensor losses;         // [rows]: -log p[label]
  Tensor probabilities;  // [rows, classes]
};
/// logits [rows, classes], labels i32 [rows] in 0..classes-1; -1 is ignored. Throws ShapeError. A
/// label out of range throws only if the labels are on the host.
CrossEntropy softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
/// Returns scale * (probabilities - onehot(labels)).
Tensor softmax_cross_entropy_backward(const Tensor& probabilities, const Tensor& labels,
                                      float scale);

}  // namespace kaiseki
