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

/// Computes y from the batch statistics of each channel. Updates running_mean and running_var [c],
/// with the unbiased variance. Writes mean and inv_std [c] for the backward pass.
void batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                      const BatchNorm& norm, Tensor& running_mean, Tensor& running_var,
                      Tensor& mean, Tensor& inv_std, Tensor& y);
/// Computes y from the running statistics.
void batch_norm_infer(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                      const BatchNorm& norm, const Tensor& running_mean, const Tensor& running_var,
                      Tensor& y);
/// Computes the y of batch_norm_train() again, from the statistics that it wrote.
void batch_norm_apply(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                      const BatchNorm& norm, const Tensor& mean, const Tensor& inv_std, Tensor& y);
/// Overwrites dx. Adds to dgamma and dbeta.
void batch_norm_backward(const Tensor& x, const Tensor& dy, const Tensor& gamma, const Tensor& mean,
                         const Tensor& inv_std, Tensor& dx, Tensor& dgamma, Tensor& dbeta);

struct Lrn {
  int64_t size = 5;
  float alpha = 1e-4f, beta = 0.75f, k = 1;
};
/// y = x / (k + alpha/size * sum of squares over the window)^beta. The window has size/2 channels
/// before and (size-1)/2 after, as in PyTorch. Channels outside count as 0.
void lrn(const Tensor& x, const Lrn& norm, Tensor& y);
void lrn_backward(const Tensor& x, const Tensor& y, const Tensor& dy, const Lrn& norm, Tensor& dx);

}  // namespace kaiseki
