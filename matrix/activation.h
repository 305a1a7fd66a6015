// SPDX-License-Identifier: MIT
// The activations that a convolution or a matrix product can apply to its output in the same pass.
#pragma once

#include <cstdint>

namespace kaiseki {

enum class Activation : uint8_t { none, relu, leaky_relu, sigmoid, tanh };

}  // namespace kaiseki
