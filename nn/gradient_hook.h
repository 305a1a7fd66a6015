// SPDX-License-Identifier: MIT
// GradientHook: where a backward pass says that gradients are complete.
#pragma once

#include <functional>
#include <span>

#include "matrix/tensor.h"

namespace kaiseki::nn {

/// Gets the gradients of one layer.
using GradientHook = std::function<void(std::span<Tensor> gradients)>;

}  // namespace kaiseki::nn
