// SPDX-License-Identifier: MIT
// Names of enumerations that more than one group of operations has.
#pragma once

#include "matrix/activation.h"
#include "wasm/bindings/arrays/argument.h"

namespace kaiseki::wasm {

template <>
inline constexpr auto kNames<Activation> = [] {
  std::array<std::string_view, kActivations.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = activation_name(kActivations[i]);
  return names;
}();

}  // namespace kaiseki::wasm
