// SPDX-License-Identifier: MIT
// Local response normalization.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// y = x / (k + alpha/size * sum of x^2 over `size` neighboring channels)^beta, over [N, C,
/// inner].
struct LrnArgs {
  int64_t n, c, inner, size;
  float alpha, beta, k;
  const Tensor *x, *y_in, *dy;
  Tensor* out;  // forward: y; backward: dx (from x, y_in, dy)

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape shape = {n, c, inner};
    into.cut(n);
    into.cut(inner);
    for (const Tensor** one : {&x, &y_in, &dy}) into.reads(*one, shape, {0, 2});
    into.writes(out, shape, {0, 2});
    if (dy) into.scratch(out->bytes());
  }
};

inline constexpr Operation<LrnArgs> kLrnForward{"lrn"};
inline constexpr Operation<LrnArgs> kLrnBackward{"lrn_backward"};

}  // namespace kaiseki
