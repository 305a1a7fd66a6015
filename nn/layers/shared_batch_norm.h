// SPDX-License-Identifier: MIT
// Batch normalization of a minibatch that several machines share. The statistics are those of the
// whole minibatch.
#pragma once

#include "matrix/ops/norm.h"
#include "nn/sum_over_machines.h"

namespace kaiseki::nn {

/// As batch_norm_train() with the samples of all machines. Calls `sum` once.
void shared_batch_norm_train(const BatchNormForward& pass, const BatchNormStatistics& statistics,
                             const SumOverMachines& sum);
/// As batch_norm_backward(). dgamma and dbeta get the part of this machine. Calls `sum` once.
void shared_batch_norm_backward(const BatchNormBackward& pass, const SumOverMachines& sum);

}  // namespace kaiseki::nn
