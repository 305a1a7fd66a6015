// SPDX-License-Identifier: MIT
// Chooses the C++ type of an element type.
#pragma once

#include <cstdint>

#include "matrix/dtype.h"

namespace kaiseki {

/// Returns run(T{}) with the C++ type T of this element type.
template <class Run>
auto with_type(DType dtype, const Run& run) {
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
      break;
  }
  return run(double{});
}

}  // namespace kaiseki
