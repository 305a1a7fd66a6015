// SPDX-License-Identifier: MIT
// GatherOverMachines: how a layer gets the samples of all machines that share a minibatch.
#pragma once

#include <functional>

#include "matrix/tensor.h"

namespace kaiseki::nn {

/// A weight's gradient is the product of two factors: `gradients`, [n, outputs], transposed, and
/// `inputs`, [n, inputs]. With few samples they have fewer bytes than the product. The function
/// replaces both by the rows of all machines and returns true. If it returns false, the products of
/// the machines are summed. All machines call it in the same order (Xie et al. 2016,
/// "Lighter-communication distributed machine learning via sufficient factor broadcasting").
using GatherOverMachines = std::function<bool(Tensor& inputs, Tensor& gradients)>;

}  // namespace kaiseki::nn
