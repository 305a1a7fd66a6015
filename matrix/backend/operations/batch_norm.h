// SPDX-License-Identifier: MIT
// Batch normalization.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Batch normalization over [N, C, inner], statistics per channel (biased variance).
struct BatchNormArgs {
  int64_t n, c, inner;
  float eps, momentum;  // running = (1 - momentum) * running + momentum * batch (unbiased variance)
  bool relu;            // y = max(y, 0)
  const Tensor *x, *gamma, *beta;
  Tensor *y, *running_mean, *running_var;  // forward
  Tensor *mean, *inv_std;  // training: the forward pass writes them, the backward pass reads them
  const Tensor* dy;        // backward
  Tensor *dx, *dgamma, *dbeta;  // backward: overwrites dx, adds to dgamma and dbeta

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape shape = {n, c, inner}, channels = {c};
    into.cut(c);
    if (!dx && !(running_mean && mean)) into.cut(n);  // no sums over images
    into.reads(x, shape, {1, 0});
    into.reads(dy, shape, {1, 0});
    into.writes(y, shape, {1, 0});
    into.writes(dx, shape, {1, 0});
    for (const Tensor** one : {&gamma, &beta}) into.reads(*one, channels, {0, kWhole});
    for (Tensor** one : {&running_mean, &running_var, &mean, &inv_std, &dgamma, &dbeta})
      into.updates(*one, channels, {0, kWhole});
  }
};

inline constexpr Operation<BatchNormArgs> kBatchNormTrain{"batch_norm_train"};
inline constexpr Operation<BatchNormArgs> kBatchNormInfer{"batch_norm_infer"};
inline constexpr Operation<BatchNormArgs> kBatchNormApply{"batch_norm_apply"};
inline constexpr Operation<BatchNormArgs> kBatchNormBackward{"batch_norm_backward"};

}  // namespace kaiseki
