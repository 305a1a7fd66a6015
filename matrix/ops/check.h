// SPDX-License-Identifier: MIT
// Shared checks of the operations' front ends. All throw ShapeError with a one-line message.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Requires that t is defined. `what` is its name in the message ("x").
inline void check_defined(const Tensor& t, std::string_view what, std::string_view operation) {
  require(t.defined(), operation, "expected a tensor as ", what, ", got an empty one");
}

/// Requires that t is defined and has this type.
inline void check_tensor(const Tensor& t, std::string_view what, std::string_view operation,
                         DType dtype = DType::f32) {
  check_defined(t, what, operation);
  require(t.dtype() == dtype, operation, "expected ", what, " of type ", dtype_name(dtype),
          ", got ", dtype_name(t.dtype()));
}

/// Requires that t is defined and has type f32 or f64.
inline void check_real(const Tensor& t, std::string_view what, std::string_view operation) {
  check_defined(t, what, operation);
  require(is_floating(t.dtype()), operation, "expected ", what, " of type f32 or f64, got ",
          dtype_name(t.dtype()));
}

/// As check_tensor(), and on `device`.
inline void check_tensor(const Tensor& t, std::string_view what, std::string_view operation,
                         const Device& device, DType dtype = DType::f32) {
  check_tensor(t, what, operation, dtype);
  require(t.device() == device, operation, "expected ", what, " on ", device.name(), ", got ",
          t.device().name());
}

inline void check_same_device(const Tensor& a, const Tensor& b, std::string_view operation) {
  require(a.device() == b.device(), operation, "expected tensors on one device, got ",
          a.device().name(), " and ", b.device().name());
}

/// Requires that t is contiguous, has this type and shape, and is on the device of `with`.
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

/// The axes that a list names. An empty list names all. A negative axis counts from the last one.
inline std::array<bool, Shape::kMaxRank> named_axes(const Shape& shape,
                                                    const std::vector<int>& axes,
                                                    std::string_view operation) {
  std::array<bool, Shape::kMaxRank> named{};
  if (axes.empty()) named.fill(true);
  for (int axis : axes) {
    const int i = shape.index(axis);
    require(!named[i], operation, "expected each axis once, got axis ", i, " twice");
    named[i] = true;
  }
  return named;
}

/// Returns whether elements of a and b may overlap in memory.
inline bool overlap(const Tensor& a, const Tensor& b) {
  if (!a.shares_storage_with(b) || a.size() == 0 || b.size() == 0) return false;
  auto range = [](const Tensor& t) {  // in bytes
    int64_t first = t.offset(), last = t.offset();
    for (int i = 0; i < t.rank(); ++i)
      (t.strides()[i] < 0 ? first : last) += (t.dim(i) - 1) * t.strides()[i];
    const auto size = static_cast<int64_t>(dtype_size(t.dtype()));
    return std::pair(first * size, (last + 1) * size);
  };
  const auto [begin_a, end_a] = range(a);
  const auto [begin_b, end_b] = range(b);
  return begin_a < end_b && begin_b < end_a;
}

/// Contiguous, of that shape, and without storage that `others` may use.
inline void check_output(const Tensor& t, std::string_view what, const Shape& shape,
                         std::initializer_list<const Tensor*> others, std::string_view operation) {
  require(t.shape() == shape, operation, "expected ", what, " of shape ", shape, ", got ",
          t.shape());
  require(t.is_contiguous(), operation, "expected ", what, " to be contiguous, got strides ",
          t.strides(), " for shape ", t.shape());
  for (const Tensor* other : others)
    require(!overlap(*other, t), operation, "overlap of ", what,
            " and another tensor in memory; use separate tensors");
}

}  // namespace kaiseki
