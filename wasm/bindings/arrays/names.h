// SPDX-License-Identifier: MIT
// Names of enumerations that more than one group of operations has.
#pragma once

#include "matrix/activation.h"
#include "wasm/bindings/arrays/argument.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::array<std::string_view, 5> kNames<Activation>{"none", "relu", "leaky_relu",
                                                                    "sigmoid", "tanh"};

}  // namespace kaiseki::wasm
