// SPDX-License-Identifier: MIT
// Checks that the front ends of operations share. All throw ShapeError with a message of one line.
#pragma once

#include <string_view>

#include "matrix/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Defined, and of that type. `what` names it in the message ("x").
inline void check_tensor(const Tensor& t, std::string_view what, std::string_view operation,
                         DType dtype = DType::f32) {
  require(t.defined(), operation, "expected a tensor as ", what, ", got an empty one");
  require(t.dtype() == dtype, operation, "expected ", what, " of type ", dtype_name(dtype),
          ", got ", dtype_name(t.dtype()));
}

inline void check_same_device(const Tensor& a, const Tensor& b, std::string_view operation) {
  require(a.device() == b.device(), operation, "expected tensors on one device, got ",
          a.device().name(), " and ", b.device().name());
}

/// Contiguous, of that type and shape, and on the device of `with`.
inline void check_operand(const Tensor& t, std::string_view what, const Shape& shape,
                          const Tensor& with, std::string_view operation,
                          DType dtype = DType::f32) {
  check_tensor(t, what, operation, dtype);
  require(t.shape() == shape, operation, "expected ", what, " of shape ", shape, ", got ",
          t.shape());
  require(t.is_contiguous(), operation, "expected a contiguous ", what, ", got strides ",
          t.strides(), " for shape ", t.shape());
  check_same_device(with, t, operation);
}

/// Whether any element of one may lie on an element of the other.
inline bool overlap(const Tensor& a, const Tensor& b) {
  if (!a.shares_storage_with(b) || a.size() == 0 || b.size() == 0) return false;
  auto last = [](const Tensor& t) {
    int64_t position = t.offset();
    for (int i = 0; i < t.rank(); ++i) position += (t.dim(i) - 1) * t.strides()[i];
    return position;
  };
  return a.offset() <= last(b) && b.offset() <= last(a);
}

}  // namespace kaiseki
