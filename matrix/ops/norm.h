// SPDX-License-Identifier: MIT
// Batch normalization (Ioffe, Szegedy 2015) and local response normalization across channels
// (Krizhevsky et al. 2012), over [n, c, ...]. f32.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

struct BatchNorm {
  float eps = 1e-5f;
  float momentum = 0.1f;  // running = (1 - momentum) * running + momentum * batch
  bool relu = false;      // y = max(y, 0) in the same pass over memory; NaN propagates
};

/// A forward pass. It overwrites y, which has the shape of x. gamma and beta are [c].
struct BatchNormForward {
  const Tensor &x, &gamma, &beta;
  Tensor& y;
  BatchNorm norm = {};
};

/// The statistics of a training step, [c] each.
struct BatchNormStatistics {
  Tensor &running_mean, &running_var;
  Tensor &mean, &inv_std;  // of the batch, for the backward pass
};

/// A backward pass, with the batch's statistics of the forward pass.
struct BatchNormBackward {
  const Tensor &x, &dy, &gamma;
  const Tensor &mean, &inv_std;
  Tensor &dx, &dgamma, &dbeta;
};

/// Computes y from the batch statistics of each channel, and writes them. Updates the running
/// statistics, with the unbiased variance.
void batch_norm_train(const BatchNormForward& pass, const BatchNormStatistics& statistics);
/// Computes y from the running statistics [c].
void batch_norm_infer(const BatchNormForward& pass, const Tensor& running_mean,
                      const Tensor& running_var);
/// Computes the y of batch_norm_train() again, from the batch's statistics that it wrote.
void batch_norm_apply(const BatchNormForward& pass, const Tensor& mean, const Tensor& inv_std);
/// Overwrites dx. Adds to dgamma and dbeta.
void batch_norm_backward(const BatchNormBackward& pass);

struct Lrn {
  int64_t size = 5;
  float alpha = 1e-4f, beta = 0.75f, k = 1;
};
/// y = x / (k + alpha/size * sum of squares over the window)^beta. The window has size/2 channels
/// before and (size-1)/2 after, as in PyTorch. Channels outside count as 0.
void lrn_into(Tensor& y, const Tensor& x, const Lrn& norm);
void lrn_backward_into(Tensor& dx, const Tensor& x, const Tensor& y, const Tensor& dy,
                       const Lrn& norm);

}  // namespace kaiseki
