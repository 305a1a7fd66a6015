// SPDX-License-Identifier: MIT
// is_nan() for each element type.
#pragma once

#include <cmath>
#include <type_traits>

namespace kaiseki::cpu {

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

}  // namespace kaiseki::cpu
