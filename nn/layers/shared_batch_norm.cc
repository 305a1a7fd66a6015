// SPDX-License-Identifier: MIT
#include "nn/layers/shared_batch_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix/ops/elementwise.h"

namespace kaiseki::nn {
namespace {

double samples_of(const Tensor& x) {
  return static_cast<double>(x.size()) / static_cast<double>(x.dim(1));
}

/// [1, c, 1, ...] for a tensor like x.
Tensor along_channels(const std::vector<float>& values, const Tensor& x) {
  Shape shape = x.shape();
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (axis != 1) shape[axis] = 1;
  return Tensor::from(std::span<const float>(values), shape, x.device());
}

}  // namespace

// The statistics of this machine come from its own batch normalization. Sums are around the running
// mean, which all machines share: without it, a large mean would cancel.
void shared_batch_norm_train(const BatchNormForward& pass, const BatchNormStatistics& statistics,
                             const SumOverMachines& sum) {
  const int64_t channels = pass.gamma.size();
  const double own = samples_of(pass.x), eps = pass.norm.eps;
  Tensor unused_mean = statistics.running_mean.clone(), unused_var = statistics.running_var.clone();
  batch_norm_train(pass, {.running_mean = unused_mean,
                          .running_var = unused_var,
                          .mean = statistics.mean,
                          .inv_std = statistics.inv_std});
  float* mean = statistics.mean.mutable_data<float>();
  float* inv_std = statistics.inv_std.mutable_data<float>();
  float* running_mean = statistics.running_mean.mutable_data<float>();
  float* running_var = statistics.running_var.mutable_data<float>();

  const auto c = static_cast<size_t>(channels);
  std::vector<float> sums(2 * c + 1);  // of x, of its square, and the samples
  for (size_t i = 0; i < c; ++i) {
    const double offset = static_cast<double>(mean[i]) - running_mean[i];
    const double variance = 1 / (static_cast<double>(inv_std[i]) * inv_std[i]) - eps;
    sums[i] = static_cast<float>(own * offset);
    sums[c + i] = static_cast<float>(own * (std::max(0.0, variance) + offset * offset));
  }
  sums[2 * c] = static_cast<float>(own);
  sum(sums);
  const double all = sums[2 * c], momentum = pass.norm.momentum;
  for (size_t i = 0; i < c; ++i) {
    const double offset = sums[i] / all;
    const double variance = std::max(0.0, sums[c + i] / all - offset * offset);
    mean[i] = static_cast<float>(running_mean[i] + offset);
    inv_std[i] = static_cast<float>(1 / std::sqrt(variance + eps));
    const double unbiased = all > 1 ? variance * all / (all - 1) : variance;
    running_mean[i] = static_cast<float>(running_mean[i] + momentum * offset);
    running_var[i] = static_cast<float>((1 - momentum) * running_var[i] + momentum * unbiased);
  }
  batch_norm_apply(pass, statistics.mean, statistics.inv_std);
}

// dx is linear in the sums. It is computed from this machine's sums, and then corrected by the
// difference to the sums of all machines.
void shared_batch_norm_backward(const BatchNormBackward& pass, const SumOverMachines& sum) {
  const auto c = static_cast<size_t>(pass.gamma.size());
  Tensor dgamma = Tensor::zeros(pass.gamma.shape(), DType::f32, pass.x.device());
  Tensor dbeta = Tensor::zeros(pass.gamma.shape(), DType::f32, pass.x.device());
  batch_norm_backward({.x = pass.x,
                       .dy = pass.dy,
                       .gamma = pass.gamma,
                       .mean = pass.mean,
                       .inv_std = pass.inv_std,
                       .dx = pass.dx,
                       .dgamma = dgamma,
                       .dbeta = dbeta});
  update("sum = sum + own", {{"sum", pass.dgamma}, {"own", dgamma}});
  update("sum = sum + own", {{"sum", pass.dbeta}, {"own", dbeta}});

  const std::vector<float> own_gamma = dgamma.to_vector(), own_beta = dbeta.to_vector();
  const std::vector<float> gamma = pass.gamma.to_vector(), mean = pass.mean.to_vector(),
                           inv_std = pass.inv_std.to_vector();
  const double own = samples_of(pass.x);
  std::vector<float> sums = own_gamma;
  sums.insert(sums.end(), own_beta.begin(), own_beta.end());
  sums.push_back(static_cast<float>(own));
  sum(sums);
  const double all = sums[2 * c];
  std::vector<float> factor(c), constant(c);  // dx += constant + factor * x
  for (size_t i = 0; i < c; ++i) {
    const double scale = static_cast<double>(gamma[i]) * inv_std[i];
    factor[i] = static_cast<float>(scale * inv_std[i] * (own_gamma[i] / own - sums[i] / all));
    constant[i] = static_cast<float>(scale * (own_beta[i] / own - sums[c + i] / all) -
                                     static_cast<double>(factor[i]) * mean[i]);
  }
  update("dx = dx + constant + factor * x", {{"dx", pass.dx},
                                             {"constant", along_channels(constant, pass.x)},
                                             {"factor", along_channels(factor, pass.x)},
                                             {"x", pass.x}});
}

}  // namespace kaiseki::nn
