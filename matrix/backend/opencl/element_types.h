// SPDX-License-Identifier: MIT
// The names of element types in OpenCL C.
#pragma once

#include <string_view>

#include "matrix/dtype.h"

namespace kaiseki::opencl {

/// "float". The numbers of u8 and bool are both uchar.
constexpr std::string_view type_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::i32:
      return "int";
    case DType::u8:
    case DType::boolean:
      return "uchar";
    case DType::f64:
      return "double";
  }
  return {};
}

/// The type that copies elements as raw bits: only their size matters.
constexpr std::string_view bits_name(DType dtype) {
  const size_t size = dtype_size(dtype);
  return size == 8 ? "ulong" : size == 4 ? "uint" : "uchar";
}

}  // namespace kaiseki::opencl
