// SPDX-License-Identifier: MIT
// SumOverMachines: how a layer sums numbers over the machines that share a minibatch.
#pragma once

#include <functional>
#include <span>

namespace kaiseki::nn {

/// Replaces the values by their sums. All machines call it in the same order, with as many values.
using SumOverMachines = std::function<void(std::span<float> values)>;

}  // namespace kaiseki::nn
