// SPDX-License-Identifier: MIT
// The elements of a tensor as the bytes of a file, and back. Files are little-endian.
#pragma once

#include <bit>

#include "base/bytes.h"
#include "base/error.h"
#include "matrix/tensor.h"

namespace kaiseki::nn {

static_assert(std::endian::native == std::endian::little);

/// Returns the tensor contiguous and on the CPU, as bytes_of() needs it.
inline Tensor for_file(const Tensor& value) {
  require(value.defined(), "write", "expected a tensor, got an empty one");
  return value.to(Device::cpu()).contiguous();
}

/// Returns the bytes of a contiguous tensor on the CPU.
inline ByteView bytes_of(const Tensor& value) {
  if (value.size() == 0) return {};
  return {static_cast<const std::byte*>(value.host_pointer(Access::read)),
          static_cast<size_t>(value.bytes())};
}

/// Reads a new tensor on the CPU from the source.
inline Tensor read_elements(ByteSource& source, const Shape& shape, DType dtype) {
  Tensor value(shape, dtype, Device::cpu());
  if (value.size() == 0) return value;
  auto* first = static_cast<std::byte*>(value.host_pointer(Access::write));
  source.read_exactly({first, static_cast<size_t>(value.bytes())},
                      "elements of shape " + shape.str());
  if (dtype == DType::boolean)
    for (uint64_t i = 0; i < value.bytes(); ++i) first[i] = std::byte{first[i] != std::byte{0}};
  return value;
}

}  // namespace kaiseki::nn
