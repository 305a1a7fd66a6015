// SPDX-License-Identifier: MIT
// Triangles of matrices.
#pragma once

#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Copies the elements of [batch, rows, columns] with column - row <= diagonal, or if `upper` is
/// set, >= diagonal. The others become 0. Any type. The tensors are contiguous.
struct TriangleArgs {
  int64_t rows, columns, diagonal;
  bool upper;
  const Tensor* input;
  Tensor* output;
};

inline constexpr Operation<TriangleArgs> kTriangle{"triangle"};

}  // namespace kaiseki
