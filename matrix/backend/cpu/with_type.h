// SPDX-License-Identifier: MIT
// Chooses the C++ type of an element type.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "matrix/dtype.h"

namespace kaiseki::cpu {

/// Calls run(T{}) with the C++ type T of this element type.
template <class Run>
void with_type(DType dtype, const Run& run) {
  switch (dtype) {
    case DType::f32:
      return run(float{});
    case DType::i32:
      return run(int32_t{});
    case DType::u8:
      return run(uint8_t{});
    case DType::boolean:
      return run(bool{});
    case DType::f64:
      return run(double{});
  }
}

template <typename T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

}  // namespace kaiseki::cpu
