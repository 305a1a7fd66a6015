// SPDX-License-Identifier: MIT
// The activations that a convolution or a matrix product can apply to its output in the same pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaiseki {

enum class Activation : uint8_t { none, relu, leaky_relu, sigmoid, tanh };

/// Returns the name, which is also the type of the layer. Returns "" if there is no such
/// activation.
constexpr std::string_view activation_name(Activation kind) {
  switch (kind) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::leaky_relu:
      return "leaky_relu";
    case Activation::sigmoid:
      return "sigmoid";
    case Activation::tanh:
      return "tanh";
  }
  return "";
}

/// Returns the elementwise expression of `x`, with the name `slope` for leaky_relu. If x is NaN,
/// the result is NaN.
constexpr std::string_view activation_formula(Activation kind) {
  switch (kind) {
    case Activation::none:
      return "x";
    case Activation::relu:
      return "x < 0 ? 0 : x";
    case Activation::leaky_relu:
      return "x < 0 ? slope * x : x";
    case Activation::sigmoid:
      return "sigmoid(x)";
    case Activation::tanh:
      return "tanh(x)";
  }
  return "x";
}

/// Every activation, in the order of the enumeration.
inline constexpr auto kActivations = [] {
  constexpr size_t kCount = [] {
    size_t count = 0;
    while (!activation_name(static_cast<Activation>(count)).empty()) ++count;
    return count;
  }();
  std::array<Activation, kCount> all{};
  for (size_t i = 0; i < kCount; ++i) all[i] = static_cast<Activation>(i);
  return all;
}();

/// Returns whether the activation costs at most two instructions. Convolutions of the CPU apply
/// these as they store a value (packed-inl.h). They apply all others in a second pass
/// (cpu::GemmKernels), so a new activation works without a change to them.
constexpr bool is_cheap(Activation kind) {
  return kind == Activation::none || kind == Activation::relu || kind == Activation::leaky_relu;
}

}  // namespace kaiseki
