// SPDX-License-Identifier: MIT
// Softmax and log-softmax.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// y = softmax or log-softmax of x over the middle of [outer, n, inner]; backward: dx from y and
/// dy.
struct SoftmaxArgs {
  bool log;
  int64_t outer, n, inner;
  const Tensor *x, *dy, *y_in;  // forward: x; backward: dy, y_in
  Tensor* out;

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape shape = {outer, n, inner};
    into.cut(outer);
    into.cut(inner);
    for (const Tensor** one : {&x, &dy, &y_in}) into.reads(*one, shape, {0, 2});
    into.writes(out, shape, {0, 2});
  }
};

inline constexpr Operation<SoftmaxArgs> kSoftmaxForward{"softmax"};
inline constexpr Operation<SoftmaxArgs> kSoftmaxBackward{"softmax_backward"};

}  // namespace kaiseki
