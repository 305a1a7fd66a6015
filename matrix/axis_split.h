// SPDX-License-Identifier: MIT
// Shapes as seen along one axis.
#pragma once

#include <cstdint>

#include "matrix/shape.h"

namespace kaiseki {

/// A shape as [outer, n, inner]. `n` is the length of the axis. `outer` is the product of the
/// dimensions before the axis, and `inner` of those after it. `axis` is from 0 to rank-1.
struct AxisSplit {
  AxisSplit(const Shape& shape, int axis) : n(shape[axis]) {
    for (int i = 0; i < shape.rank(); ++i)
      if (i != axis) (i < axis ? outer : inner) *= shape[i];
  }
  int64_t outer = 1, n, inner = 1;
};

/// The shape without this axis.
inline Shape without_axis(const Shape& shape, int axis) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) result.push_back(shape[i]);
  return result;
}

}  // namespace kaiseki
