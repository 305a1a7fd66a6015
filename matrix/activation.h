// SPDX-License-Identifier: MIT
// The activations that a convolution or a matrix product can apply to its output in the same pass.
#pragma once

#include <cstdint>

namespace kaiseki {

enum class Activation : uint8_t { none, relu, leaky_relu, sigmoid, tanh };

/// Returns whether the activation costs at most two instructions. Convolutions of the CPU apply
/// these as they store a value (packed-inl.h). They apply all others in a second pass
/// (cpu::GemmKernels), so a new activation works without a change to them.
constexpr bool is_cheap(Activation kind) {
  return kind == Activation::none || kind == Activation::relu || kind == Activation::leaky_relu;
}

}  // namespace kaiseki
