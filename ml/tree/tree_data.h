// SPDX-License-Identifier: MIT
// The features of samples, from which trees are grown.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// The samples on the CPU, without a copy if they are there. If no feature has more than 256
/// distinct values, a tree is grown from codes of one byte. They have the order of the values.
struct TreeData {
  /// x: f32 [n, features] without NaN, n < 2^31.
  explicit TreeData(const Tensor& x);

  int64_t features() const { return values.dim(1); }

  Tensor values;               // f32 [n, features], contiguous
  std::vector<uint8_t> codes;  // [n, features], or empty
};

}  // namespace kaiseki::ml
